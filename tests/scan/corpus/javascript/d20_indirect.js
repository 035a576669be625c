const cp = require("child_process");
(0, cp.exec)("ls"); // FIND: javascript.process
eval.call(null, "1"); // FIND: javascript.dynamic-code
Reflect.construct(Function, ["return 1"]); // FIND: javascript.dynamic-code
const request = new XMLHttpRequest(); // FIND: javascript.network
request.open("GET", "https://www.example.org/"); // FIND: javascript.network
