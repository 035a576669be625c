(0, eval)("var x = 1"); // FIND: javascript.dynamic-code
const e = eval;
e("1"); // FIND: javascript.dynamic-code
globalThis.eval("2"); // FIND: javascript.dynamic-code
