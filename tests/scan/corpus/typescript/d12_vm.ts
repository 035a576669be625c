import { runInThisContext, Script } from "vm";
runInThisContext("1"); // FIND: javascript.dynamic-code
new Script("2").runInNewContext({}); // FIND: javascript.dynamic-code
