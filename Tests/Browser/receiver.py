"""A shop's server that takes webhooks in, and answers all of them with one text."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    def __init__(self, answer: str, status: int = 500) -> None:
        self.ids: list[str] = []
        self.came = threading.Event()
        receiver, body = self, answer.encode()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                # A test message is in no log.
                if self.headers["webhook-id"].startswith("evt_"):
                    receiver.ids.append(self.headers["webhook-id"])
                    receiver.came.set()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self.server.server_port}/hooks"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
