"""The event feed as Server-Sent Events, read by a client that knows nothing but the specification, over crashes of the server."""

import http.client
import json
import tempfile
import threading
import time
import unittest
import urllib.error
from pathlib import Path
from urllib.parse import urlsplit

from server import KEY, Assay
from simulator import BUNDLE_ID, Simulator


class EventSource(threading.Thread):
    """Reads on and on, and comes again with the last id when the connection ends."""

    def __init__(self, assay: Assay, query: str = "") -> None:
        super().__init__(daemon=True)
        self.assay = assay
        self.query = query
        self.last_id = ""
        self.events: list[tuple[str, str, str]] = []
        self.connections = 0
        self.is_stopped = False
        self.wrong: list[str] = []
        self.start()

    def run(self) -> None:
        while not self.is_stopped:
            try:
                self.read()
            except (OSError, http.client.HTTPException):
                pass
            # Sooner than the server asks for: so that it is met while it starts, too.
            time.sleep(0.05)

    def read(self) -> None:
        connection = http.client.HTTPConnection(urlsplit(self.assay.url).netloc, timeout=30)
        fields = {"Authorization": f"Bearer {KEY}", "Accept": "text/event-stream"}
        if self.last_id:
            fields["Last-Event-ID"] = self.last_id
        try:
            connection.request("GET", "/v1/events" + self.query, headers=fields)
            answer = connection.getresponse()
            if answer.status != 200 or answer.getheader("Content-Type") != "text/event-stream":
                self.wrong.append(f"{answer.status} {answer.read()!r}")
                return
            self.connections += 1
            self.take(answer)
        finally:
            connection.close()

    def take(self, answer: http.client.HTTPResponse) -> None:
        name_of_event, kind, data = "", "", []
        while not self.is_stopped:
            line = answer.readline()
            # What is not whole is no event, wherever the server ended.
            if not line.endswith(b"\n"):
                return
            text = line[:-1].decode()
            name, _, value = text.partition(":")
            value = value.removeprefix(" ")
            if name == "id":
                name_of_event = value
            elif name == "event":
                kind = value
            elif name == "data":
                data.append(value)
            elif not text and data:
                self.events.append((name_of_event, kind, "\n".join(data)))
                self.last_id = name_of_event
                kind, data = "", []

    def wait(self, count: int) -> None:
        deadline = time.monotonic() + 60
        while len(self.events) < count and time.monotonic() < deadline:
            time.sleep(0.01)


class EventStreamTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.store = Simulator("--start", "2026-01-01T00:00:00Z")
        self.addCleanup(self.store.close)
        self.assay = Assay(Path(self.folder.name), self.store)
        self.addCleanup(self.assay.close)
        self.placed = 0

    def place(self) -> None:
        """Until it is answered: the server may be gone for a while."""
        self.placed += 1
        body = {
            "order_id": f"o-{self.placed}",
            "customer_id": f"customer-{self.placed % 7}",
            "product_id": BUNDLE_ID + ".coins.100",
        }
        for _ in range(200):
            try:
                status, answer = self.assay.call("POST", "/v1/orders", body, key=f"place-{self.placed}")
                self.assertEqual(status, 201, answer)
                return
            except (OSError, http.client.HTTPException, urllib.error.URLError):
                time.sleep(0.05)
        self.fail("no answer")

    def listed(self) -> list[tuple[str, str, dict]]:
        events, after = [], 0
        while True:
            _, page = self.assay.call("GET", f"/v1/events?after={after}&limit=100")
            events += [(str(event["cursor"]), event["event"]["type"], event["event"]) for event in page["events"]]
            after = page["next"]
            if not page["has_more"]:
                return events

    def check(self, source: EventSource, of: list[tuple[str, str, dict]]) -> None:
        source.wait(len(of))
        self.assertEqual([(name, kind, json.loads(data)) for name, kind, data in source.events], of)
        self.assertEqual(source.wrong, [])
        source.is_stopped = True

    def test_crashes_are_bridged_without_loss_and_repetition(self) -> None:
        source = EventSource(self.assay)
        for turn in range(4):
            writer = threading.Thread(target=self.place_some)
            writer.start()
            source.wait(turn * 15 + 5)
            self.assay.kill()
            self.assay.start()
            writer.join()
        late = EventSource(self.assay)
        some = EventSource(self.assay, "?types=order.cancelled")
        self.assertEqual(self.assay.call("POST", "/v1/orders/o-1/cancel")[0], 200)
        everything = self.listed()
        self.assertEqual(len(everything), self.placed + 1)
        self.check(source, everything)
        self.check(late, everything)
        self.check(some, everything[-1:])
        self.assertGreaterEqual(source.connections, 5)

    def place_some(self) -> None:
        for _ in range(15):
            self.place()

    def test_an_event_is_there_soon_and_a_stop_does_not_wait_for_its_readers(self) -> None:
        sources = [EventSource(self.assay) for _ in range(20)]
        for source in sources:
            while source.connections == 0:
                time.sleep(0.01)
        self.place()
        for source in sources:
            source.wait(1)
            self.assertEqual([event[1] for event in source.events], ["order.placed"])
            source.is_stopped = True
        self.assay.process.terminate()
        # Far below the 20 seconds that a stop may take.
        self.assertEqual(self.assay.process.wait(timeout=15), 0)


if __name__ == "__main__":
    unittest.main()
