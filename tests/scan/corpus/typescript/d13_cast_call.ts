import * as cp from "child_process";
(cp as any).exec("id"); // FIND: javascript.process
cp!.exec("ls"); // FIND: javascript.process
