class Runner {
  cp = require("child_process");
  go(line) {
    this.cp.exec(line); // FIND: javascript.process
  }
}
