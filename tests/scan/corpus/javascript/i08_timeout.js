setTimeout(() => console.log("later"), 100);
const timer = setInterval(tick, 10);
function tick() {
  clearInterval(timer);
}
