import type { ChildProcess } from "child_process";
export function isDone(p: ChildProcess): boolean {
  return p.exitCode !== null;
}
