const fs = require("fs");
const os = require("os");
fs.readFileSync("/etc/passwd"); // FIND: javascript.outside-file
fs.writeFile("../../../outside.txt", "x", () => {}); // FIND: javascript.outside-file
const home = os.homedir(); // FIND: javascript.outside-file
console.log(home);
