import cp, { fork } from 'node:child_process';
import * as vm from 'vm';
export const go = () => cp.execFile('id'); // FIND: javascript.process
fork('./x.js'); // FIND: javascript.process
new vm.Script('1').runInThisContext(); // FIND: javascript.dynamic-code
const { Worker } = require('worker_threads');
new Worker('./w.js'); // FIND: javascript.process
setInterval('x()', 5); // FIND: javascript.dynamic-code
