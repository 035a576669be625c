import child = require('child_process');
namespace N { export const run = (c: string) => child.execSync(c); } // FIND: javascript.process
const go = <typeof eval>eval;
go('1'); // FIND: javascript.dynamic-code
function f(this: any, x: string) { return child.spawn(x) satisfies unknown; } // FIND: javascript.process
