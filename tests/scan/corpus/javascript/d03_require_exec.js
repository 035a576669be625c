const cp = require("child_process");
cp.exec("id", (error, out) => console.log(out)); // FIND: javascript.process
require("child_process").execSync("ls"); // FIND: javascript.process
