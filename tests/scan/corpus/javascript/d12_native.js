const fast = require("./build/Release/fast.node"); // FIND: javascript.native-extension
process.dlopen(module, "./x.node"); // FIND: javascript.native-extension
const found = require("bindings")("fast"); // FIND: javascript.native-extension
console.log(fast, found);
