const API = "https://api.example.org/v1";
async function load() {
  const a = await fetch(API); // FIND: javascript.network
  const b = await fetch("https://data.example.com/x.json"); // FIND: javascript.network
  return [a, b];
}
load();
