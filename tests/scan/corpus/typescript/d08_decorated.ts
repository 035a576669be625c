import { execFileSync as run } from "child_process";
function log(target: any, key: string) { return target[key]; }
class Job {
  @log
  go(): string { return run("id").toString(); } // FIND: javascript.process
}
new Job().go();
