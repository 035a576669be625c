const name = process.argv[2];
const module1 = require(name); // FIND: javascript.reflection
import("./" + name + ".js").then((m) => m.run()); // FIND: javascript.reflection
require(`./plugins/${name}`); // FIND: javascript.reflection
module1.go();
