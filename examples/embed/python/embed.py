#!/usr/bin/python3
"""Run `pinfold run` from Python: stream its output and its events, read its result, cancel it. Nothing here raises.

    run = Run(["--wall", "60s", "@host", "echo", "hello"], on_stdout=sys.stdout.buffer.write)
    outcome = run.wait()            # run.cancel() from any thread
    outcome.ok, outcome.status, outcome.failure, outcome.result
"""
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time

RESULT_MAX = 16 << 20  # bytes of a result document
LINE_MAX = 4 << 20  # bytes of one event
DRAIN_SECONDS = 5  # what pipes may take when pinfold has ended
CANCEL_SECONDS = 30  # what pinfold may take to end a run, its --grace among it


class Outcome:
    """What became of it. failure is None where there is a result; then status, ok and all else is the result's.

    not-found, not-executable, not-started: pinfold did not run. killed: it was, and left no result. no-result, bad-result: it ended
    without one that can be read. callback: one of the caller's raised, and the run was cancelled.
    """

    def __init__(self):
        self.failure, self.message, self.result = None, None, None
        self.status, self.ok = "no-result", False
        self.code, self.signal = None, None  # of pinfold itself
        self.events = self.bad_events = self.stdout_bytes = self.stderr_bytes = 0

    def fail(self, failure, message):
        if not self.failure:
            self.failure, self.message = failure, str(message)


def read_result(data):
    """(document, None) or (None, what is wrong)."""
    try:
        document = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        return None, f"the result is no JSON: {error}"
    if not isinstance(document, dict) or document.get("schema") != "pinfold.result/1":
        return None, "the result is no pinfold.result/1"
    if not isinstance(document.get("status"), str) or not isinstance(document.get("ok"), bool):
        return None, "the result has no status"
    return document, None


class Run:
    """args are those behind `pinfold run`; no shell sees them. on_stdout and on_stderr get bytes, on_event a dict."""

    def __init__(self, args, program="pinfold", on_stdout=None, on_stderr=None, on_event=None):
        self.args, self.program = list(args), program
        self.on_stdout, self.on_stderr, self.on_event = on_stdout, on_stderr, on_event
        self.cancelled = threading.Event()
        self.wake_read, self.wake_write = os.pipe()
        os.set_blocking(self.wake_write, False)

    def cancel(self):
        """From any thread or a signal handler, as often as it pleases, also before wait()."""
        self.cancelled.set()
        try:
            os.write(self.wake_write, b"x")
        except OSError:
            pass  # full: the loop wakes up all the same; closed: it is over

    def wait(self):
        """The whole run, to its end."""
        outcome = Outcome()
        try:
            self._run(outcome)
        except Exception as error:  # whatever it is: the caller gets an outcome
            outcome.fail("not-started", error)
        finally:
            os.close(self.wake_read)
            os.close(self.wake_write)
        return outcome

    def _run(self, outcome):
        # Into memory that nobody has to read meanwhile: a callback that takes its time is not in the way of the result.
        result = os.memfd_create("result")
        events, events_theirs = os.pipe()
        try:
            try:
                process = self._start(outcome, [events_theirs, result])
            finally:
                os.close(events_theirs)  # ours would keep the pipe from ending
            if process:
                self._attend(outcome, process, events, result)
        finally:
            os.close(events)
            os.close(result)

    def _attend(self, outcome, process, events, result):
        try:
            Loop(self, outcome, process, events, result).run()
        finally:  # where even that failed, nothing is left behind: the sandbox dies with pinfold
            if process.poll() is None:
                process.kill()
            process.wait()

    def _start(self, outcome, fds):
        argv = [self.program, "run", f"--events=fd:{fds[0]}", f"--result=fd:{fds[1]}", *self.args]
        try:
            return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    pass_fds=fds, bufsize=0)
        except FileNotFoundError as error:
            outcome.fail("not-found", error)
        except PermissionError as error:
            outcome.fail("not-executable", error)
        except (OSError, ValueError) as error:  # too long a line, a NUL in it, no more processes
            outcome.fail("not-started", error)
        return None


class Loop:
    """One thread, one poll: whatever has something to say is read, so that no full pipe holds up another."""

    def __init__(self, run, outcome, process, events, result):
        self.run_, self.outcome, self.process, self.result = run, outcome, process, result
        self.line, self.error, self.kill_at, self.stop_at = bytearray(), bytearray(), None, None
        self.readers = {process.stdout.fileno(): self._stdout, process.stderr.fileno(): self._stderr, events: self._events}
        self.gone = os.pidfd_open(process.pid)

    def run(self):
        with selectors.DefaultSelector() as selector:
            for fd in [*self.readers, self.gone, self.run_.wake_read]:
                selector.register(fd, selectors.EVENT_READ)
            try:
                while self.readers:
                    ready = selector.select(self._patience())
                    self._enforce()
                    if not ready and self.stop_at and time.monotonic() >= self.stop_at:
                        break
                    for key, _ in ready:
                        self._serve(selector, key.fd)
            finally:
                if self.process.poll() is None and not self._ended(5):
                    self.process.kill()
                self._conclude()
                os.close(self.gone)

    def _serve(self, selector, fd):
        if fd == self.gone:
            self.stop_at = time.monotonic() + DRAIN_SECONDS
            selector.unregister(fd)
        elif fd == self.run_.wake_read:
            selector.unregister(fd)
            self._terminate()
        else:
            data = os.read(fd, 65536)
            if data:
                self.readers[fd](data)
            else:
                del self.readers[fd]
                selector.unregister(fd)

    def _patience(self):
        ends = [at for at in (self.kill_at, self.stop_at) if at]
        return max(0, min(ends) - time.monotonic()) if ends else None

    def _terminate(self):
        """TERM to pinfold, which ends the whole sandbox and still writes its result. The process is not reaped yet, so its number is its own."""
        if self.kill_at is None:
            self.process.send_signal(signal.SIGTERM)
            self.kill_at = time.monotonic() + CANCEL_SECONDS

    def _enforce(self):
        if self.kill_at and time.monotonic() >= self.kill_at:
            self.process.kill()
            self.kill_at = None

    def _ended(self, seconds):
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    # ---- what comes ----

    def _call(self, function, argument):
        if not function or self.outcome.failure:
            return
        try:
            function(argument)
        except Exception as error:
            self.outcome.fail("callback", repr(error))
            self._terminate()

    def _stdout(self, data):
        self.outcome.stdout_bytes += len(data)
        self._call(self.run_.on_stdout, data)

    def _stderr(self, data):
        self.outcome.stderr_bytes += len(data)
        self.error = (self.error + data)[-2000:]
        self._call(self.run_.on_stderr, data)

    def _events(self, data):
        self.line += data
        *lines, self.line = self.line.split(b"\n")
        for line in lines:
            self._event(bytes(line))
        if len(self.line) > LINE_MAX:
            self.outcome.bad_events += 1
            self.line = bytearray()

    def _event(self, line):
        try:
            event = json.loads(line.decode("utf-8"))
            if not isinstance(event, dict) or event.get("schema") != "pinfold.event/1":
                raise ValueError("no event")
        except (ValueError, RecursionError):
            self.outcome.bad_events += 1
            return
        self.outcome.events += 1
        self._call(self.run_.on_event, event)

    def _conclude(self):
        outcome, code = self.outcome, self.process.wait()
        outcome.code, outcome.signal = (code, None) if code >= 0 else (None, -code)
        self.process.stdout.close()
        self.process.stderr.close()
        size = os.fstat(self.result).st_size
        if size == 0:
            said = bytes(self.error).decode("utf-8", "backslashreplace").strip()
            outcome.fail("killed" if code < 0 else "no-result", said or f"pinfold ended with {code} and wrote no result")
            return
        document, why = (None, "the result is too large") if size > RESULT_MAX else read_result(os.pread(self.result, size, 0))
        if not document:
            outcome.fail("bad-result", why)
            return
        outcome.result, outcome.status = document, document["status"]
        outcome.ok = document["ok"] and not outcome.failure


def main():
    """embed.py OUTCOME PINFOLD ARG...: runs it, passes its output on, cancels it at "cancel" on stdin, writes the outcome."""
    if len(sys.argv) < 3:
        sys.exit(main.__doc__)
    output = sys.stdout.buffer

    def pass_on(to):
        def write(data):
            to.write(data)
            to.flush()
        return write

    run = Run(sys.argv[3:], program=sys.argv[2], on_stdout=pass_on(output), on_stderr=pass_on(sys.stderr.buffer),
              on_event=lambda event: print("event", event["event"], file=sys.stderr, flush=True))

    def listen():
        while line := os.read(0, 100):
            if b"cancel" in line:
                run.cancel()

    threading.Thread(target=listen, daemon=True).start()
    outcome = run.wait()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(vars(outcome), file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
