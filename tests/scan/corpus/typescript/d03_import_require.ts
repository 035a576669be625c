import cp = require("child_process");
cp.spawn("ls", []); // FIND: javascript.process
