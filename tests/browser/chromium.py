"""Drives headless Chromium through the DevTools protocol over a pipe."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE_S = 60


def installed():
    """The path of Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    """One browser with one tab. `console` and `requests` hold what the page did since `open`."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.answers, to_write = os.pipe()

        def place():  # out of the way first: either end may be 3 or 4 here
            os.dup2(to_read, 100)
            os.dup2(to_write, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                   "--disable-background-networking", "--disable-extensions", "--disable-component-update", "--disable-sync",
                   f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen([program, *options], preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": self.profile.name}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.count, self.session = b"", 0, None
        self.console, self.requests, self.loaded = [], [], False
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.answers)
        self.profile.cleanup()

    def receive(self):
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.answers, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("Chromium ended or did not answer")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(message)
        kind, values = message.get("method"), message.get("params")
        if kind == "Runtime.consoleAPICalled":
            self.console.append(f"{values['type']}: {values['args']}")
        elif kind == "Runtime.exceptionThrown":
            self.console.append(values["exceptionDetails"])
        elif kind == "Log.entryAdded":
            self.console.append(values["entry"])
        elif kind == "Page.javascriptDialogOpening":
            self.console.append(f"dialog: {values['message']}")
            self.send("Page.handleJavaScriptDialog", accept=False)
        elif kind == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif kind == "Page.loadEventFired":
            self.loaded = True
        return message

    def send(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        return self.count

    def call(self, method, **params):
        number = self.send(method, **params)
        while (message := self.receive()).get("id") != number:
            pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def view(self, width, theme, height=900):
        """Shows pages in a window of this size (CSS pixels), theme "light" or "dark"."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def open(self, page):
        """Loads a file, or a URL of HTTP."""
        self.console, self.requests, self.loaded = [], [], False
        self.call("Page.navigate", url=page if str(page).startswith("http") else f"file://{page}")
        while not self.loaded:
            self.receive()

    def run(self, script):
        """The value of a JavaScript expression, awaited."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"], indent=1))
        return found["result"].get("value")
