import { execFile as run } from "child_process";
import * as child from "node:child_process";
import cp from "child_process";
run("id"); // FIND: javascript.process
child.fork("./worker.js"); // FIND: javascript.process
cp.spawnSync("ls"); // FIND: javascript.process
