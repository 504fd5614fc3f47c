"""Headless Chromium, driven by its DevTools protocol, for checks of pages.

It needs no package of Python's.
"""
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
WIDTHS = [400, 1400]
PATIENCE = 60


class Missing(Exception):
    pass


class Browser:
    """Chromium, driven by its DevTools protocol through a pipe: JSON texts that end with NUL."""

    def __init__(self, folder):
        path = next(filter(None, map(shutil.which, BROWSERS)), None)
        if path is None:
            raise Missing("none of %s is installed" % ", ".join(BROWSERS))
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        # High numbers, because the browser expects these pipes at 3 and 4, which may be taken here.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 64) for end in (commands, answers)]

        def connect():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        flags = [
            "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-extensions",
            "--remote-debugging-pipe", f"--user-data-dir={folder}",
        ]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")
        self.log = open(os.path.join(folder, "browser.log"), "w+b")
        self.process = subprocess.Popen(
            [path, *flags, "about:blank"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            preexec_fn=connect, pass_fds=(3, 4))
        for end in (commands, answers, *ends):
            os.close(end)
        self.buffer = b""
        self.count = 0
        self.session = None
        self.events = []

    def close(self):
        with contextlib.suppress(Missing):
            self.send("Browser.close", isOfPage=False)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            ready = left > 0 and select.select([self.answers], [], [], left)[0]
            data = os.read(self.answers, 1 << 16) if ready else b""
            if not data:
                self.log.seek(0)
                words = self.log.read()[-2000:].decode(errors="replace")
                raise Missing("Chromium " + ("ended" if ready else "does not answer") + ":\n" + words)
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, isOfPage=True, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if isOfPage:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self.commands, data):]
        except BrokenPipeError:
            raise Missing("Chromium ended")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise Missing(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self):
        target = self.send("Target.createTarget", isOfPage=False, url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", isOfPage=False, targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.send(f"{domain}.enable")

    def show(self, address, width, height, scheme):
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.send("Page.navigate", url=address)
        deadline = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(deadline))

    def evaluate(self, script):
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise Missing(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def press(self, key, code, text=None):
        parameters = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", **parameters, **({"text": text} if text else {}))
        self.send("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def landmarks(self):
        """The roles and names of the landmarks, as a screen reader has them."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        roles = ("banner", "navigation", "main", "contentinfo", "region", "image")
        return [
            (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes
            if not node["ignored"] and node.get("role", {}).get("value") in roles
        ]


def intrusions(events, is_own):
    """What a page said, and what it requested, its own addresses excepted."""
    for event in events:
        method, details = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            yield "the console has: " + " ".join(str(one.get("value")) for one in details["args"])
        elif method == "Runtime.exceptionThrown":
            yield "the console has: " + details["exceptionDetails"]["text"]
        elif method == "Log.entryAdded":
            yield "the console has: " + details["entry"]["text"]
        elif method == "Network.requestWillBeSent":
            requested = details["request"]["url"].split("#")[0]
            if not is_own(requested) and not requested.startswith("data:"):
                yield f"the page requests {requested}"
