"""Starts `assay simulate` on a free port, and speaks to its control API."""

import json
import os
import re
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ASSAY = os.environ["ASSAY"]
BUNDLE_ID = "com.example.demo"
APPLE_ID = 1_234_567_890
SHARED_SECRET = "0123456789abcdef0123456789abcdef"


class Simulator:
    """One running store; time stands still in it until it is told to move."""

    def __init__(self, *flags: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [ASSAY, "simulate", "--data", self.folder.name, "--listen", "127.0.0.1:0", "--pace", "0", *flags],
            stdout=subprocess.PIPE,
            text=True,
        )
        greeting = ""
        # The last sentence of the greeting; the pipe is then left alone.
        while "Ctrl-C" not in greeting:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"assay simulate ended: {greeting}")
            greeting += line
        self.url = re.search(r"http://127\.0\.0\.1:\d+", greeting).group()
        self.issuer_id = re.search(r"issuer (\S+)", greeting).group(1)
        self.key_id = re.search(r"with key (\w+)", greeting).group(1)
        self.key = Path(self.folder.name, "merchant-key.p8").read_bytes()
        self.roots = [path.read_bytes() for path in sorted(Path(self.folder.name, "roots").glob("*.der"))]

    @property
    def hosts(self) -> dict[str, str]:
        """Where this store answers for each of Apple's hosts, as `app_store.hosts` wants it."""
        paths = {"api": "", "verify_receipt": "/verifyReceipt"}
        places = {"": "/production", "_sandbox": "/sandbox"}
        return {name + suffix: self.url + place + path for name, path in paths.items() for suffix, place in places.items()}

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()
        self.folder.cleanup()

    def call(self, method: str, path: str, body: object = None, expecting: int | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/simulator/v1{path}", data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as refusal:
            with refusal:
                status, text = refusal.code, refusal.read()
        if expecting is None:
            assert status < 300, (status, text)
        else:
            assert status == expecting, (status, text)
        return json.loads(text) if text else {}

    def get(self, path: str) -> dict:
        return self.call("GET", path)

    def customer(self, name: str, **members: object) -> None:
        self.call("POST", "/customers", {"name": name, **members})

    def act(self, act: str, **members: object) -> list[dict]:
        return self.call("POST", "/acts", {"act": act, **members}).get("transactions", [])

    def buy(self, customer: str, product: str, **members: object) -> dict:
        return self.act("buy", customer=customer, product=product, **members)[-1]

    def advance(self, span: str) -> None:
        self.call("POST", "/clock", {"advance": span})

    def now(self) -> str:
        return self.get("/clock")["now"]

    def transactions(self, customer: str) -> list[dict]:
        return self.get(f"/customers/{customer}")["transactions"]

    def receipt(self, customer: str, digest: str = "sha256") -> str:
        return self.get(f"/customers/{customer}/receipt?digest={digest}")["receipt_data"]


class Inbox:
    """A shop's server: keeps every notification that it is sent."""

    def __init__(self) -> None:
        inbox = self
        self.bodies: list[dict] = []
        self.status = 200

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                inbox.bodies.append(json.loads(body))
                self.send_response(inbox.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/apple"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def wait(self, count: int) -> list[dict]:
        deadline = time.monotonic() + 30
        while len(self.bodies) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.bodies

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class SimulatorTest(unittest.TestCase):
    """A store for all tests of one class."""

    flags: tuple[str, ...] = ("--start", "2026-01-01T00:00:00Z")

    @classmethod
    def setUpClass(cls) -> None:
        cls.store = Simulator(*cls.flags)
        cls.addClassCleanup(cls.store.close)


def milliseconds(text: str | None) -> int | None:
    """Of an RFC 3339 moment."""
    if text is None:
        return None
    from datetime import datetime, timezone

    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return round(moment.timestamp() * 1000)
