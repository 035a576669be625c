const run = (() => {}).constructor("return process"); // FIND: javascript.dynamic-code
const again = [].filter["constructor"]("return 1"); // FIND: javascript.dynamic-code
console.log(run(), again());
