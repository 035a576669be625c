const vm = require("vm");
vm.runInNewContext("1 + 1"); // FIND: javascript.dynamic-code
const script = new vm.Script("2 + 2"); // FIND: javascript.dynamic-code
script.runInThisContext(); // FIND: javascript.dynamic-code
