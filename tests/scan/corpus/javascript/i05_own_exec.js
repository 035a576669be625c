function exec(words) {
  return words.length;
}
function spawn(monster) {
  return { monster };
}
exec(["a"]);
spawn("slime");
