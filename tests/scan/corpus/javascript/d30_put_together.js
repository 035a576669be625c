const cp = require('child' + '_process');
cp.execSync('id'); // FIND: javascript.process
globalThis['ev' + 'al']('1'); // FIND: javascript.dynamic-code
window["Function"]("return 1")(); // FIND: javascript.dynamic-code
const { ['exec']: run } = require("child_process");
run('id'); // FIND: javascript.process
