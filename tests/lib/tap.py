"""TAP for tests: a few assertions, one line each, and an end that cannot be forgotten.

A script that dies, or that never says done(), fails: the uncaught exception becomes a failed
point, and without a plan prove complains. Diagnosis goes to stdout as comments, so that it
stays beside the point it belongs to.
"""
import os
import re
import signal
import sys
import traceback

_HERE = os.path.dirname(os.path.realpath(__file__))
_count = 0
_failed = 0


def diag(text):
    """Print text as TAP comments."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    for line in str(text).splitlines() or [""]:
        print("# " + line, flush=True)


def _clean(name):
    # '#' begins a directive in TAP, and a point is one line.
    return " ".join(str(name).split()).replace("#", "\\#")


def ok(condition, name, why=""):
    """One point: passed if condition is true; why is printed when it is not. Returns the condition."""
    global _count, _failed
    _count += 1
    print(f"{'ok' if condition else 'not ok'} {_count} - {_clean(name)}", flush=True)
    if not condition:
        _failed += 1
        frame = next((f for f in reversed(traceback.extract_stack()) if os.path.dirname(os.path.realpath(f.filename)) != _HERE), None)
        if frame:
            diag(f"at {os.path.basename(frame.filename)}:{frame.lineno}")
        if why:
            diag(why)
    return bool(condition)


def is_(got, want, name, why=""):
    """Equal, in value and in type as far as == knows it."""
    return ok(got == want, name, f"got:  {got!r}\nwant: {want!r}" + (f"\n{why}" if why else ""))


def like(text, pattern, name):
    """The pattern is found in text; both str or both bytes."""
    return ok(re.search(pattern, text, re.M) is not None, name, f"text: {text!r}\nlike: {pattern!r}")


def unlike(text, pattern, name):
    return ok(re.search(pattern, text, re.M) is None, name, f"text: {text!r}\nunlike: {pattern!r}")


def within(value, low, high, name):
    """low <= value <= high; None is never within."""
    return ok(value is not None and low <= value <= high, name, f"got {value!r}, want {low!r} to {high!r}")


def _allowed(reason):
    """Whether tests/lib/allowed-skips has a pattern for reason."""
    with open(os.path.join(_HERE, "allowed-skips"), encoding="utf-8") as file:
        rows = [line.split("\t")[0] for line in file if line.strip() and not line.startswith("#")]
    return any(re.search(row, reason) for row in rows)


def skip(reason, name):
    """One point that this machine cannot decide. STRICT=1 takes only reasons from allowed-skips."""
    global _count, _failed
    _count += 1
    if os.environ.get("STRICT", "") not in ("", "0") and not _allowed(reason):
        _failed += 1
        print(f"not ok {_count} - {_clean(name)}", flush=True)
        diag(f"skipped, and STRICT allows no such skip: {reason}")
    else:
        print(f"ok {_count} - {_clean(name)} # SKIP {_clean(reason)}", flush=True)


def skip_all(reason):
    """The whole script has nothing to decide here."""
    skip(reason, "the whole test")
    done()


def done():
    """The plan, and the end of the script."""
    print(f"1..{_count}", flush=True)
    sys.exit(1 if _failed or not _count else 0)


def _died(kind, value, trace):
    ok(False, f"died of {kind.__name__}")
    diag("".join(traceback.format_exception(kind, value, trace)))
    print(f"1..{_count}", flush=True)
    # atexit handlers still run: what the test made is cleaned up.


sys.excepthook = _died


class Hang(Exception):
    """Not a TimeoutError: that is an OSError, and tests catch those."""


def _hangs(number, frame):
    raise Hang(f"this test took more than {LONGEST_SECONDS} s")


# A test that waits for what never comes is a failed point with its place, not a stage that is cut off.
LONGEST_SECONDS = int(os.environ.get("PINFOLD_TEST_SECONDS", "600"))
signal.signal(signal.SIGALRM, _hangs)
signal.alarm(LONGEST_SECONDS)
