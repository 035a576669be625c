#!/usr/bin/python3
"""node runs: workers, child processes, file watching, fetch to a server of its own, crypto, WebAssembly."""
from software import runs, run_in, tools
from tap import done

PROGRAM = r"""
const { Worker, isMainThread, parentPort } = require("worker_threads");
if (!isMainThread) {
  parentPort.postMessage(21 * 2);
} else (async () => {
  const workers = await Promise.all([1, 2, 3, 4].map(() => new Promise((yes, no) => {
    const w = new Worker(__filename); w.on("message", yes); w.on("error", no); })));
  console.log("workers", workers.join());
  const { execFileSync } = require("child_process");
  console.log("child", execFileSync("/bin/echo", ["hello"]).toString().trim());
  const fs = require("fs");
  fs.writeFileSync("file", "x");
  const server = require("http").createServer((q, r) => r.end("served")).listen(0, "127.0.0.1");
  await new Promise(r => server.on("listening", r));
  const reply = await fetch("http:" + `//127.0.0.1:${server.address().port}/`);
  console.log("fetch", await reply.text());
  server.close();
  const hash = await new Promise((yes, no) => require("crypto").scrypt("a", "b", 16, (e, k) => e ? no(e) : yes(k.length)));
  console.log("scrypt", hash);
  const code = new Uint8Array([0,97,115,109,1,0,0,0,1,5,1,96,0,1,127,3,2,1,0,7,5,1,1,102,0,0,10,6,1,4,0,65,42,11]);
  console.log("wasm", (await WebAssembly.instantiate(code)).instance.exports.f());
  const zlib = require("zlib");
  console.log("zlib", zlib.gunzipSync(zlib.gzipSync("again")).toString());
  console.log("cpus", require("os").cpus().length > 0, require("os").userInfo().username);
  process.exit(0);
})();
"""
image = tools("node", "tar")
runs("node", run_in(image, "exec node program.js", files={"program.js": PROGRAM}),
     "workers 42,42,42,42\nchild hello\nfetch served\nscrypt 16\nwasm 42\nzlib again\ncpus true user\n")
done()
