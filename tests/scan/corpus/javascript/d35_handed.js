const load = require;
load('child_process').exec('id'); // FIND: javascript.process
const cp = require('child_process');
const table = { run: cp.exec, all: [cp.spawn] }; // FIND: javascript.process javascript.process
const Later = Object.getPrototypeOf(async function () {}).constructor;
new Later('x')(); // FIND: javascript.dynamic-code
const run = require('util').promisify(cp.exec); // FIND: javascript.process
run('id'); // FIND: javascript.process
window.self.eval('1'); // FIND: javascript.dynamic-code
[eval].map(f => f('1')); // FIND: javascript.dynamic-code
const { 'spawn': go } = cp;
go('id'); // FIND: javascript.process
