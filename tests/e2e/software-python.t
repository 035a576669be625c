#!/usr/bin/python3
"""Python runs: threads, multiprocessing, shared memory, asyncio, sqlite, sockets on loopback, numpy; again and again."""
import os

from software import LIMITS, runs
from pf import *

PROGRAM = r"""
import asyncio, concurrent.futures, getpass, json, multiprocessing, os, pathlib, pty, random, select, signal, socket
import sqlite3, subprocess, sys, tempfile, threading, time, urllib.request, http.server, uuid, hashlib, ctypes
from multiprocessing import shared_memory
import numpy as np

def square(n):
    return n * n

def main():
    seen = []
    threads = [threading.Thread(target=lambda n=n: seen.append(n)) for n in range(16)]
    [t.start() for t in threads], [t.join() for t in threads]
    print("threads", sorted(seen) == list(range(16)))
    with multiprocessing.Pool(4) as pool:
        print("pool", sum(pool.map(square, range(100))))
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        print("spawn", sum(pool.map(abs, range(-9, 9))))
    block = shared_memory.SharedMemory(create=True, size=32 << 20)
    block.buf[:4] = b"pink"
    again = shared_memory.SharedMemory(block.name)
    print("shm", bytes(again.buf[:4]))
    again.close()
    block.unlink()
    async def both():
        process = await asyncio.create_subprocess_exec("/bin/echo", "sub", stdout=-1)
        return (await asyncio.gather(asyncio.sleep(0.01, "slept"), process.communicate()))[0]
    print("asyncio", asyncio.run(both()))
    base = sqlite3.connect("db.sqlite")
    base.execute("pragma journal_mode=wal")
    base.execute("create table t (n)")
    base.executemany("insert into t values (?)", [(n,) for n in range(1000)])
    base.commit()
    print("sqlite", base.execute("select sum(n) from t").fetchone()[0])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    server.RequestHandlerClass.log_message = lambda *a: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pathlib.Path("file").write_text("served")
    print("http", urllib.request.urlopen("http:" + f"//127.0.0.1:{server.server_port}/file").read())
    six = socket.create_server(("::1", 0), family=socket.AF_INET6)
    socket.create_connection(six.getsockname()[:2]).close()
    print("names", getpass.getuser(), os.path.expanduser("~"))
    print("pty", pty.spawn(["/bin/true"]))
    signal.signal(signal.SIGALRM, lambda *a: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pause()
    a = np.random.default_rng(7).random((300, 300))
    print("numpy", np.allclose(a @ np.linalg.inv(a), np.eye(300)), np.fft.fft(np.ones(8))[0].real)
    f = np.memmap("map", dtype="f8", mode="w+", shape=(1000,))
    f[:] = 1
    print("memmap", f.sum(), len(os.sched_getaffinity(0)) > 0)

if __name__ == "__main__":
    main()
"""
WANT = """threads True
pool 328350
spawn 81
shm b'pink'
asyncio slept
sqlite 499500
http b'served'
names user /scratch
pty 0
numpy True 8.0
memmap 1000.0 True
"""
folder = tmpdir()
path = os.path.join(folder, "program.py")
with open(path, "w", encoding="ascii") as file:
    file.write(PROGRAM)
if not os.path.isdir(os.path.join(ROOT, "build/rootfs/python")):
    skip_all("no build/rootfs/python: run scripts/rootfs python")
# A file, not stdin: multiprocessing's spawn reads it again.
run = pinfold("run", *LIMITS, "--stdin", path, rootfs("python"), "/bin/sh", "-c", "cat > program.py && exec python3 program.py",
              timeout=300)
runs("python3", run, WANT)

# A filter that forgot a call fails now and then: T57. A thousand processes import and start a thread, each for itself; numpy, which
# takes fifty times as long, in every tenth.
THOUSAND = """
import os, sys
bad = 0
for i in range(1000):
    pid = os.fork()
    if pid == 0:
        try:
            import json, threading, time
            t = threading.Thread(target=time.time)
            t.start()
            t.join()
            if i % 10 == 0:
                import numpy
                assert numpy.ones(3).sum() == 3.0
            assert json.loads("[1]") == [1]
        except BaseException as error:
            print(i, repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    bad += os.waitpid(pid, 0)[1] != 0
print("failed", bad)
"""
run = pinfold("run", *LIMITS, rootfs("python"), "python3", "-c", THOUSAND, timeout=300)
runs("1,000 processes that import and start threads", run, "failed 0\n")
run = pinfold("run", *LIMITS, rootfs("python"), "/bin/sh", "-ec",
              "i=0; while [ $i -lt 8 ]; do python3 -c 'import numpy; print(numpy.ones(3).sum())'; i=$((i+1)); done", timeout=300)
runs("8 interpreters one after the other", run, "3.0\n" * 8)
ABSENT = "import ctypes; c = ctypes.CDLL(None, use_errno=True); print([(c.syscall(n), ctypes.get_errno()) for n in (5000, 1000, 470, 600)])"
run = pinfold("run", *LIMITS, rootfs("python"), "python3", "-c", ABSENT)
runs("calls that nobody knows", run, f"{[(-1, 38)] * 4}\n")
done()
