const x = `child_process`;
const { spawn: go } = require(`child_process`);
go(`ls`, ['-l']); // FIND: javascript.process
require(`node:${'vm'}`).runInThisContext('1'); // FIND: javascript.reflection
(0, eval)('2'); // FIND: javascript.dynamic-code
new (Object.getPrototypeOf(async function () {}).constructor)('return 1'); // FIND: javascript.dynamic-code
