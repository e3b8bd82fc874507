"""A shop's server, which believes a webhook only after a library of others has checked it."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import standardwebhooks


class Shop:
    """Receives webhooks, and delivers what is newer than what it has: by the fence, once for each delivery."""

    def __init__(self) -> None:
        shop = self
        self.secret = ""
        self.status = 200
        self.events: list[dict] = []
        self.seen: set[str] = set()
        self.goods: dict[str, tuple[int, dict]] = {}
        self.lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(shop.take(body, {name.lower(): value for name, value in self.headers.items()}))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.server.server_port}/hooks"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, body: bytes, fields: dict[str, str]) -> int:
        # Raises on anything that is not believed, and the request gets no answer: the test sees that nothing arrives.
        message = standardwebhooks.Webhook(self.secret).verify(body, fields)
        with self.lock:
            if self.status != 200:
                return self.status
            if fields["webhook-id"] in self.seen:
                return 200
            self.seen.add(fields["webhook-id"])
            self.events.append(message)
            delivery = message["data"].get("delivery")
            if delivery and delivery.get("fence", 0) > self.goods.get(delivery["delivery_id"], (0, {}))[0]:
                self.goods[delivery["delivery_id"]] = (delivery["fence"], delivery)
        return 200

    def wait(self, *types: str) -> list[str]:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with self.lock:
                told = [event["type"] for event in self.events]
            if all(kind in told for kind in types):
                break
            time.sleep(0.02)
        return told

    def wait_for(self, count: int, kind: str, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with self.lock:
                if sum(event["type"] == kind for event in self.events) >= count:
                    return True
            time.sleep(0.02)
        return False

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
