const commands = { exec: a => a, fetch: b => b };
export function run(name, ...rest) {
  return commands[name](...rest);
}
const window = { width: 3 };
console.log(window['width'], Object.keys(commands).map(k => commands[k](1)));
setTimeout(() => run('exec', 1), 5);
function Function2(x) { return x; }
Function2('return 1');
