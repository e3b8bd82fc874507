"""A steady load of everything that a server lives on: so many errands a second, whoever of a few callers is free."""

import http.client
import json
import random
import socket
import threading
import time
from collections import Counter
from urllib.parse import urlsplit

import standardwebhooks

from clients import HERE
from server import KEY, Assay
from shop import Shop
from simulator import BUNDLE_ID, Simulator
from test_event_stream import EventSource

CALLERS, READERS = 6, 4
COINS = f"{BUNDLE_ID}.coins.100"
# After the load: until everybody has heard of everything.
HEARD_WITHIN = 60.0
# As many customers as this, one after the other, so that what is kept of each grows as well as their number.
PURCHASES_OF_A_CUSTOMER = 20


class Receiver(Shop):
    """Checks each webhook, and keeps its id only."""

    def take(self, body: bytes, fields: dict[str, str]) -> int:
        standardwebhooks.Webhook(self.secret).verify(body, fields)
        with self.lock:
            self.seen.add(fields["webhook-id"])
        return 200


class Load:
    def __init__(self, assay: Assay, store: Simulator, seed: int, rate: float) -> None:
        self.assay, self.store, self.rate = assay, store, rate
        self.lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.count = 0
        self.next_at = 0.0
        self.is_stopped = False
        self.fault: BaseException | None = None
        self.callers = [Caller(self, place, seed * 100 + place) for place in range(CALLERS)]
        self.readers: list[EventSource] = []
        self.receiver = Receiver()
        body = {"url": self.receiver.url, "environments": ["production"], "include_test_signed": True}
        status, made = assay.call("POST", "/v1/webhooks", body)
        assert status == 201, made
        self.receiver.secret = made["secret"]

    def everything(self) -> None:
        """By one caller, who opens and closes what the others will."""
        self.readers = [EventSource(self.assay) for _ in range(READERS)]
        for errand in self.callers[0].errands:
            errand()

    def start(self) -> None:
        self.readers = [EventSource(self.assay) for _ in range(READERS)]
        self.next_at = time.monotonic()
        for caller in self.callers:
            caller.start()

    def take_turn(self) -> bool:
        """Waits until the next errand is due; what is late is left out, so that a slow moment makes no crowd."""
        with self.lock:
            now = time.monotonic()
            due = max(self.next_at, now - 1 / self.rate)
            self.next_at = due + 1 / self.rate
            self.count += 1
        time.sleep(max(0, due - now))
        return not self.is_stopped

    def add(self, name: str) -> None:
        with self.lock:
            self.counts[name] += 1

    def stop(self) -> None:
        self.is_stopped = True
        for caller in self.callers:
            caller.join()

    def rest(self) -> list[str]:
        """All callers go; who waits for events first hears of all. What was not heard of comes back."""
        known, wrong = self.known(), []
        deadline = time.monotonic() + HEARD_WITHIN
        while time.monotonic() < deadline:
            heard = [len(reader.events) for reader in self.readers] + [len(self.receiver.seen)]
            if all(count >= known for count in heard):
                break
            time.sleep(0.1)
        else:
            wrong.append(f"of {known} events the readers of the feed and the webhooks' receiver heard {heard}")
        for reader in self.readers:
            wrong += reader.wrong
            reader.is_stopped = True
        # Whoever reads notices with the next event that it has ended. So does the sender of webhooks of its connections,
        # at which it looks once a second at most.
        time.sleep(1.5)
        self.callers[0].order()
        for reader in self.readers:
            reader.join(timeout=40)
        self.readers = []
        for caller in self.callers:
            caller.leave()
        self.counts["events told"] = known
        self.counts["webhooks received"] = len(self.receiver.seen)
        return wrong

    def known(self) -> int:
        count, after = 0, 0
        while True:
            page = self.assay.call("GET", f"/v1/events?after={after}&limit=500")[1]
            count, after = count + len(page["events"]), page["next"]
            if not page["has_more"]:
                return count

    def close(self) -> None:
        self.is_stopped = True
        for reader in self.readers:
            reader.is_stopped = True
        self.receiver.close()


class Caller(threading.Thread):
    """Goes from one errand to the next, over one connection that is kept and others that are not."""

    def __init__(self, load: Load, place: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.load, self.place = load, place
        self.random = random.Random(seed)
        self.netloc = urlsplit(load.assay.url).netloc
        self.kept: http.client.HTTPConnection | None = None
        self.number = self.bought = 0
        self.customer, self.last = "", ""
        self.cursor = 0
        load.store.customer(f"mallory-{place}")
        known = load.store.get("/flaws")
        self.flaws = [flaw for flaw in known["chain"] + known["jws"] if flaw != "blankAtEnd"]
        self.weights = {
            self.purchase: 25,
            self.purchase_by_a_stranger: 10,
            self.forge: 10,
            self.entitlements: 30,
            self.events: 8,
            self.use: 5,
            self.refund: 4,
            self.look_at_the_feed: 3,
            self.break_off: 3,
            self.talk_nonsense: 2,
        }
        self.errands = list(self.weights)

    def run(self) -> None:
        try:
            while self.load.take_turn():
                (errand,) = self.random.choices(self.errands, self.weights.values())
                errand()
                self.load.add(errand.__name__.replace("_", " "))
        except BaseException as fault:
            self.load.fault = self.load.fault or fault
            self.load.is_stopped = True

    def leave(self) -> None:
        if self.kept:
            self.kept.close()
        self.kept = None

    def ask(
        self, method: str, path: str, body: object = None, key: str = "", expecting: int = 200, is_kept: bool = True
    ) -> dict:
        fields = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        if key:
            fields["Idempotency-Key"] = key
        if not is_kept:
            fields["Connection"] = "close"
        connection = self.kept if is_kept else None
        if connection is None:
            connection = http.client.HTTPConnection(self.netloc, timeout=30)
        data = None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, fields)
            answer = connection.getresponse()
        except (ConnectionError, http.client.RemoteDisconnected):
            # A connection that was idle for too long has ended.
            if connection is not self.kept:
                raise
            self.leave()
            return self.ask(method, path, body, key, expecting)
        text = answer.read()
        assert answer.status == expecting, (method, path, answer.status, text)
        if is_kept:
            self.kept = connection
        else:
            connection.close()
        return json.loads(text) if text else {}

    # Errands

    def order(self, is_kept: bool = True) -> dict:
        if self.bought % PURCHASES_OF_A_CUSTOMER == 0:
            self.customer = f"soak-{self.place}.{self.bought // PURCHASES_OF_A_CUSTOMER}"
            self.load.store.customer(self.customer)
        self.bought += 1
        order = {"order_id": f"o-{self.place}-{self.bought}", "customer_id": self.customer, "product_id": COINS}
        self.ask("POST", "/v1/orders", order, f"place-{order['order_id']}", 201, is_kept)
        return order

    def purchase(self, is_kept: bool = True) -> None:
        order = self.order(is_kept)
        # The store tells of it, too, and who comes first records it.
        self.last = self.load.store.buy(self.customer, COINS)["transaction_id"]
        proof = self.load.store.get(f"/transactions/{self.last}")["signed_transaction_info"]
        body = {"proof": proof, "customer_id": self.customer, "order_id": order["order_id"]}
        self.ask("POST", "/v1/purchases", body, is_kept=is_kept)

    def purchase_by_a_stranger(self) -> None:
        """Each request over a connection of its own."""
        self.purchase(is_kept=False)

    def forge(self) -> None:
        sold = self.load.store.buy(f"mallory-{self.place}", f"{BUNDLE_ID}.coins.1000")["transaction_id"]
        flawed = self.load.store.get(f"/transactions/{sold}/flawed/{self.random.choice(self.flaws)}")
        body = {"proof": flawed["signed_transaction_info"], "customer_id": self.customer or "mallory"}
        self.ask("POST", "/v1/purchases", body, expecting=422, is_kept=self.random.random() < 0.5)

    def entitlements(self) -> None:
        customer = self.customer or "nobody"
        self.ask("GET", f"/v1/customers/{customer}/{self.random.choice(('entitlements', 'balances'))}")

    def events(self) -> None:
        page = self.ask("GET", f"/v1/events?after={self.cursor}&limit=100")
        self.cursor = page["next"]

    def use(self) -> None:
        if self.last:
            self.number += 1
            place = f"/v1/customers/{self.customer}/balances/gems/use"
            try:
                self.ask("POST", place, {"amount": 1} | HERE, f"use-{self.place}-{self.number}")
            except AssertionError as refusal:
                assert refusal.args[0][2] == 409, refusal

    def refund(self) -> None:
        """The store tells of it in a notification."""
        if self.last:
            transaction, self.last = self.last, ""
            self.load.store.advance("PT1S")
            self.load.store.act("decide_refund", transaction=transaction, decision="full")

    def look_at_the_feed(self) -> None:
        """Somebody who waits for events, and goes without a word."""
        fields = {"Authorization": f"Bearer {KEY}", "Accept": "text/event-stream"}
        connection = http.client.HTTPConnection(self.netloc, timeout=30)
        connection.request("GET", f"/v1/events?after={self.cursor}", headers=fields)
        assert connection.getresponse().status == 200
        connection.close()

    def break_off(self) -> None:
        """In the middle of a request; sometimes with a reset."""
        with socket.create_connection(self.netloc.split(":")) as stranger:
            stranger.sendall(b"POST /v1/purchases HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{")
            if self.random.random() < 0.5:
                stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def talk_nonsense(self) -> None:
        with socket.create_connection(self.netloc.split(":"), timeout=30) as stranger:
            nonsense = (b"\x16\x03\x01\x02\x00\x01\x00\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n")
            stranger.sendall(self.random.choice(nonsense))
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(4096):
                pass
