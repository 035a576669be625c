const serialize = require("node-serialize");
const o = serialize.unserialize(process.argv[2]); // FIND: javascript.deserialize
console.log(o);
