"""A headless Chromium for tests, spoken with over two pipes (--remote-debugging-pipe): no driver, no port.

    with Browser(user) as browser:
        page = browser.open("file:///...", width=380, dark=True)
        page.value("document.title")
        page.requests    # every address that it asked for, its own first

As root Chromium runs without its own sandbox, which needs a user that is not root.
"""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

WAIT = 60

PROGRAM = shutil.which("chromium")


class Page:
    """One document that has been loaded to its end."""

    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        self.requests, self.complaints, self.dialogs, self.violations = [], [], [], []

    def send(self, method, **params):
        return self.browser.send(method, params, self.session)

    def value(self, expression):
        """What a script of the test's says, run with more rights than the page has."""
        said = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(json.dumps(said["exceptionDetails"])[:500])
        return said["result"].get("value")

    def picture(self, name, whole=True):
        import base64
        said = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(name, "wb") as file:
            file.write(base64.b64decode(said["data"]))

    def on(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(params["message"])
            # Nobody answers here: the answer's answer is passed over.
            self.browser.post("Page.handleJavaScriptDialog", {"accept": True}, self.session)
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str([arg.get("value") for arg in params["args"]]))


class Browser:
    """user: credentials for Popen, {} for whoever runs the test."""

    def __init__(self, credentials=None, env=None, home=None):
        self.number, self.seen, self.pages, self.answers, self.loaded = 0, b"", {}, {}, set()
        self.home = home or tempfile.mkdtemp(prefix="pinfold-test.browser.", dir="/var/tmp")
        if credentials and not home:
            os.chown(self.home, credentials["user"], credentials["group"])
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()
        argv = [PROGRAM, "--headless", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
                f"--user-data-dir={self.home}/profile", "--no-sandbox", "about:blank"]

        def place():
            # Both lie above 4 first, so that neither is in the other's place.
            high = [os.dup2(fd, number, True) for fd, number in ((to_read, 93), (from_write, 94))]
            os.dup2(high[0], 3, True)
            os.dup2(high[1], 4, True)

        self.log = open(os.path.join(self.home, "log"), "wb")
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=place,
                                        close_fds=False, start_new_session=True, cwd="/",
                                        env={"PATH": os.environ["PATH"], "HOME": self.home, "XDG_RUNTIME_DIR": self.home,
                                             "DBUS_SESSION_BUS_ADDRESS": "disabled:", **(env or {})}, **(credentials or {}))
        os.close(to_read)
        os.close(from_write)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            self.post("Browser.close", {}, None)
            self.process.wait(20)
        except (OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.to)
        os.close(self.source)
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    # ---- messages end with a NUL ----

    def post(self, method, params, session):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        return self.number

    def take(self, deadline):
        while b"\0" not in self.seen:
            ready, _, _ = select.select([self.source], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.source, 1 << 20) if ready else b""
            if not data:
                with open(self.log.name, "rb") as file:
                    raise RuntimeError("the browser says nothing: " + file.read()[-800:].decode("utf-8", "replace"))
            self.seen += data
        raw, self.seen = self.seen.split(b"\0", 1)
        message = json.loads(raw)
        if "id" in message:
            self.answers[message["id"]] = message
            return
        page = self.pages.get(message.get("sessionId"))
        if page:
            page.on(message["method"], message.get("params", {}))
        if message["method"] == "Page.loadEventFired":
            self.loaded.add(message["sessionId"])

    def send(self, method, params, session=None):
        number = self.post(method, params, session)
        deadline = time.monotonic() + WAIT
        while number not in self.answers:
            self.take(deadline)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, address, width=1280, height=900, dark=False):
        """The page, when its load event has come."""
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.pages[session] = Page(self, session)
        for method in "Page.enable", "Network.enable", "Runtime.enable", "Log.enable":
            page.send(method)
        page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700)
        page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.loaded.discard(session)
        page.requests.clear()
        page.send("Page.navigate", url=address)
        deadline = time.monotonic() + WAIT
        while session not in self.loaded:
            self.take(deadline)
        return page
