class Runner {
  private cp = require("child_process");
  go(line: string) {
    this.cp.exec(line); // FIND: javascript.process
    (<any>globalThis).eval(line); // FIND: javascript.dynamic-code
    (eval satisfies unknown)(line); // FIND: javascript.dynamic-code
  }
}
