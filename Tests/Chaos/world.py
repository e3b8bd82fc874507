"""What chaos falls upon: servers over one ledger, their clients, and a shop with two endpoints."""

import json
import os
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from clients import TERMS, Client
from disk import Disk
from proxy import Proxy
from server import Assay
from simulator import Simulator
from sink import Sink

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


class Node(Assay):
    """A server whose clock can be set, where there is a library for that."""

    def __init__(self, folder: Path, *arguments: object, **members: object) -> None:
        folder.mkdir()
        self.has_jumped = False
        self.clock = folder / "clock"
        self.is_frozen_until = 0.0
        self.kills = 0
        if members.pop("has_own_clock", False) and FAKETIME:
            self.clock.write_text("+0\n")
            members["environment"] = {
                "LD_PRELOAD": str(FAKETIME),
                "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
            # The library adds to the environment in the first program that it is loaded into, which would move the
            # arguments away from where Swift looks for them.
            members["through"] = ("/bin/sh", "-c", 'exec "$0" "$@"')
        super().__init__(folder, *arguments, **members)

    def set_clock(self, shift: str) -> None:
        self.has_jumped = self.has_jumped or shift != "+0"
        fresh = self.clock.with_suffix(".new")
        fresh.write_text(shift + "\n")
        os.replace(fresh, self.clock)

    def kill(self) -> None:
        self.kills += 1
        super().kill()
        for left in Path("/dev/shm").glob(f"*faketime_s*_{self.process.pid}"):
            left.unlink()

    def start(self) -> None:
        """A database may be away for a while, and a disk full."""
        for attempt in range(20):
            try:
                return super().start()
            except RuntimeError:
                if attempt == 19:
                    raise
                time.sleep(0.5)

    def is_ready(self) -> bool:
        try:
            return self.call("GET", "/readyz")[0] == 200
        except OSError:
            return False


class World:
    """One ledger, from the clients to the shop."""

    # Of an errand, from its first request to an answer for good.
    patience = 120.0

    def __init__(self, name: str, folder: Path, store: Simulator, seed: int, clients: int, think: float) -> None:
        self.name = name
        self.folder = folder
        self.store = store
        self.think = think
        folder.mkdir()
        self.nodes: list[Node] = []
        self.mallory = f"mallory-{name}"
        store.customer(self.mallory)
        known = store.get("/flaws")
        # White space around a proof is taken off: a mail or a shell puts it there.
        self.flaws = [flaw for flaw in known["chain"] + known["jws"] if flaw != "blankAtEnd"]
        self.sinks = [Sink(folder / f"sink-{place}.jsonl", seed + place, hangs=place == 1) for place in range(2)]
        self.endpoints: list[str] = []
        # The one whose 2xx says that goods were delivered.
        self.acknowledging = ""
        self.gate = threading.Condition()
        self.is_open = False
        self.is_over = False
        self.busy = 0
        self.clients = [Client(f"{name}{place}", self, seed * 100 + place) for place in range(clients)]

    def begin(self) -> None:
        for place, sink in enumerate(self.sinks):
            status, made = self.nodes[0].call(
                "POST",
                "/v1/webhooks",
                {
                    "url": sink.url,
                    "environments": ["production"],
                    "include_test_signed": True,
                    "order_per_customer": place == 0,
                    "acknowledge_by_2xx": place == 0,
                },
            )
            assert status == 201, made
            sink.secret = made["secret"]
            self.endpoints.append(made["webhook_id"])
            assert made["acknowledge_by_2xx"] == (place == 0)
            if place == 0:
                self.acknowledging = made["webhook_id"]
        for client in self.clients:
            client.start()

    # Clients do their errands while the world is open.

    def enter(self) -> bool:
        with self.gate:
            self.gate.wait_for(lambda: self.is_open or self.is_over)
            self.busy += not self.is_over
            return not self.is_over

    def leave(self) -> None:
        with self.gate:
            self.busy -= 1
            self.gate.notify_all()

    def open(self) -> None:
        with self.gate:
            self.is_open = True
            self.gate.notify_all()
        for sink in self.sinks:
            sink.is_moody = True

    def calm(self, seconds: float) -> bool:
        """No new errands, no faults; true when all clients have come home."""
        for sink in self.sinks:
            sink.is_moody = sink.is_away = False
        with self.gate:
            self.is_open = False
            return self.gate.wait_for(lambda: self.busy == 0, timeout=seconds)

    def drain(self, seconds: float) -> float | None:
        """Waits until nothing is left to be sent; how long that took, None when it did not end.

        The schedule of repetitions is one of hours: what waits for its next turn is sent at once, as a shop can ask.
        """
        started = time.monotonic()
        while time.monotonic() - started < seconds:
            if all(self.node_is_drained(endpoint) for endpoint in self.endpoints):
                return time.monotonic() - started
            time.sleep(0.5)
        return None

    def left(self) -> list[dict]:
        """What is still to be sent."""
        page = [self.nodes[0].call("GET", f"/v1/webhooks/{it}/deliveries?state=pending")[1] for it in self.endpoints]
        return [delivery for found in page for delivery in found.get("deliveries", [])][:5]

    def node_is_drained(self, endpoint: str) -> bool:
        node = self.nodes[0]
        for state in ("leased", "pending"):
            status, page = node.call("GET", f"/v1/webhooks/{endpoint}/deliveries?state={state}&limit=500")
            if status != 200:
                return False
            for delivery in page["deliveries"] if state == "pending" else []:
                if delivery["attempt_count"] > 0:
                    node.call("POST", f"/v1/webhooks/{endpoint}/replay", {"event_id": delivery["event_id"]})
            if page["deliveries"]:
                return False
        return True

    def finish(self) -> None:
        with self.gate:
            self.is_over = True
            self.gate.notify_all()

    def close(self) -> None:
        self.finish()
        for node in self.nodes:
            node.resume()
            node.kill()
        for sink in self.sinks:
            sink.close()

    def rows(self, query: str) -> list[dict]:
        raise NotImplementedError

    def rest(self) -> None:
        """Before the ledger is read."""

    def wake(self) -> None:
        """After that."""


class SharedWorld(World):
    """Two servers on one PostgreSQL database, each with a way to it that can be cut."""

    def __init__(self, database: str, folder: Path, store: Simulator, seed: int, clients: int, think: float) -> None:
        super().__init__("p", folder, store, seed, clients, think)
        self.database = database
        place, name = database.rsplit(":", 1)
        port, rest = name.split("/", 1)
        self.sql("DROP SCHEMA IF EXISTS assay CASCADE")
        self.proxies = [Proxy(int(port), seed + number) for number in range(2)]
        for number, proxy in enumerate(self.proxies):
            url = f"{place}:{proxy.port}/{rest}"
            own = number == 1
            self.nodes.append(
                Node(folder / f"node-{number}", store, products=TERMS, database=url, has_own_clock=own)
            )

    def sql(self, statement: str) -> str:
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.database, "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def rows(self, query: str) -> list[dict]:
        text = self.sql(f"SET search_path TO assay; SELECT row_to_json(q) FROM ({query}) q")
        return [json.loads(line) for line in text.splitlines()]

    def close(self) -> None:
        super().close()
        for proxy in self.proxies:
            proxy.close()


class FileWorld(World):
    """One server with SQLite, on a small disk of its own if there can be one."""

    def __init__(
        self, folder: Path, store: Simulator, seed: int, clients: int, think: float, mebibytes: int
    ) -> None:
        super().__init__("s", folder, store, seed, clients, think)
        self.disk = Disk(folder, mebibytes)
        self.data = self.disk.place / "ledger"
        self.nodes.append(Node(folder / "node", store, products=TERMS, data=self.data))

    def rest(self) -> None:
        self.nodes[0].close()

    def wake(self) -> None:
        self.nodes[0].start()

    def rows(self, query: str) -> list[dict]:
        """Only while the server rests: the file is that of one process."""
        connection = sqlite3.connect(f"file:{self.data / 'assay.sqlite'}?mode=ro", uri=True)
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query)]
        finally:
            connection.close()

    def close(self) -> None:
        super().close()
        self.disk.close()
