const { exec, spawn: start } = require("node:child_process");
exec("id"); // FIND: javascript.process
start("ls", ["-l"]); // FIND: javascript.process
