const lib = require("./lib/tools");
const lodash = require("lodash");
module.exports = { run: () => lodash.map(lib.list, (x) => x * 2) };
