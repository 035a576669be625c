import { exec, ExecException } from "child_process";
exec("id", (e: ExecException | null, out: string) => console.log(e, out)); // FIND: javascript.process
