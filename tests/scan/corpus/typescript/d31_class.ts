import * as cp from 'child_process';
class Runner<T extends string> {
  private readonly go = cp.spawnSync;
  constructor(public name: T) {}
  again(): void { this.go('id'); } // FIND: javascript.process
  run(): void { cp.execFileSync(this.name!); } // FIND: javascript.process
}
new Runner('id').run();
