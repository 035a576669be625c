const make = new Function("a", "return a * 2"); // FIND: javascript.dynamic-code
const other = Function("return this")(); // FIND: javascript.dynamic-code
console.log(make(2), other);
