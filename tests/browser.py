"""A page in a real browser: what the page itself asks for and complains of, and its picture.

Over Chromium's DevTools protocol, on a pipe. Events come from the page's own target only: what the browser does in the
background, looking for updates for example, is no business of the page.
"""

import base64
import io
import json
import os
import select
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from matplotlib.image import imread

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
]
COMPLAINTS = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")


@dataclass(frozen=True)
class Visit:
    asked: set[str]  # URLs, but for the page's own and what it holds itself
    said: list[str]
    pixels: np.ndarray


class Browser:
    def __init__(self, to_browser, from_browser):
        self._to, self._from = to_browser, from_browser
        self._left, self._number, self._events = b"", 0, []

    def call(self, method, session=None, **parameters):
        """The browser's answer; events that come before it are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        os.write(self._to, json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self._number:
                assert "error" not in found, found
                return found["result"]
            self._events.append(found)

    def wait_for(self, method, session):
        while not any(event["method"] == method for event in self._of(session)):
            self._events.append(self._read())

    def visit(self, path, width=800, dark=False):
        self._events.clear()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Network", "Runtime", "Log", "Page"):
            self.call(f"{domain}.enable", session)
        size = {"width": width, "height": 2000, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", session, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", session, features=[scheme])
        self.call("Page.navigate", session, url=path.as_uri())
        self.wait_for("Page.loadEventFired", session)
        later = "new Promise(done => setTimeout(done, 200))"  # for what a script may do after that
        self.call("Runtime.evaluate", session, expression=later, awaitPromise=True)
        picture = self.call("Page.captureScreenshot", session)["data"]
        events = list(self._of(session))
        self.call("Target.closeTarget", targetId=target)
        asked = {
            event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
        }
        said = [json.dumps(event["params"]) for event in events if event["method"] in COMPLAINTS]
        held = {url for url in asked if url.startswith("data:")}
        return Visit(asked - {path.as_uri()} - held, said, imread(io.BytesIO(base64.b64decode(picture))))

    def _of(self, session):
        return (event for event in self._events if event.get("sessionId") == session)

    def _read(self):
        while b"\0" not in self._left:
            assert select.select([self._from], [], [], 60)[0], "the browser has said nothing for a minute"
            part = os.read(self._from, 1 << 16)
            assert part, "the browser has gone"
            self._left += part
        message, self._left = self._left.split(b"\0", 1)
        return json.loads(message)


@contextmanager
def browser_in(folder):
    """A browser with a new profile in the folder; where there is none, the test is skipped."""
    names = ("chromium", "chromium-browser", "google-chrome")
    command = next(filter(None, map(shutil.which, names)), None)
    if command is None:
        pytest.skip("no chromium on this machine")
    to_child, to_browser = os.pipe()
    from_browser, from_child = os.pipe()
    # The protocol is spoken on file descriptors 3 and 4.
    shell = f'exec "$0" "$@" 3<&{to_child} 4>&{from_child} {to_child}<&- {from_child}>&-'
    options = [*QUIET, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}"]
    process = subprocess.Popen(
        ["bash", "-c", shell, command, *options],
        pass_fds=(to_child, from_child),
        env={**os.environ, "HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_child)
    os.close(from_child)
    try:
        yield Browser(to_browser, from_browser)
    finally:
        os.close(to_browser)  # with which the browser ends
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(from_browser)
