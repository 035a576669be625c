import * as fs from "fs";
import * as child from "node:child_process";
const secret: Buffer = fs.readFileSync("/root/.ssh/id_rsa"); // FIND: javascript.outside-file
child.execSync(`echo ${secret}`); // FIND: javascript.process
