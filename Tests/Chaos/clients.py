"""Shop's clients: they order, buy, show proofs of every kind, and keep asking until somebody answers for good."""

import hashlib
import http.client
import json
import random
import threading
import time
import uuid
from urllib.parse import urlsplit

from record import Record
from server import KEY, Assay
from simulator import BUNDLE_ID

GOODS = {f"{BUNDLE_ID}.coins.100": 100, f"{BUNDLE_ID}.coins.1000": 1000, f"{BUNDLE_ID}.sword": 0}
TERMS = [
    {"id": f"{BUNDLE_ID}.coins.100", "kind": "consumable", "goods": [{"currency": "gems", "amount": 100}]},
    {"id": f"{BUNDLE_ID}.coins.1000", "kind": "consumable", "goods": [{"currency": "gems", "amount": 1000}]},
    {"id": f"{BUNDLE_ID}.sword", "kind": "non_consumable", "goods": [{"entitlement": "sword"}]},
]
HERE = {"environment": "production", "test_signed": True}


class GivenUp(Exception):
    """No answer for good within the bound."""


class Caller:
    """One connection to each server, for one thread; every request and what it saw is on disk before the next."""

    def __init__(self, name: str, record: Record) -> None:
        self.name = name
        self.record = record
        self.connections: dict[str, http.client.HTTPConnection] = {}

    def send(self, node: Assay, method: str, path: str, body: object, key: str | None) -> tuple[int | None, bytes]:
        """No status when no answer came."""
        fields = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        if key:
            fields["Idempotency-Key"] = key
        url = node.url
        connection = self.connections.get(url)
        if connection is None:
            connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=12)
            self.connections[url] = connection
        try:
            connection.request(method, path, None if body is None else json.dumps(body).encode(), fields)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            del self.connections[url]
            return None, b""

    def close(self) -> None:
        for connection in self.connections.values():
            connection.close()

    def log(self, line: dict, status: int | None, answer: bytes) -> None:
        line |= {"client": self.name, "at": time.time(), "status": status}
        if status is not None:
            line["digest"] = hashlib.sha256(answer).hexdigest()
            line["answer"] = json.loads(answer) if answer else None
        self.record.add(line)


class Client(threading.Thread):
    """Goes from one errand to the next while the world is open."""

    def __init__(self, name: str, world, seed: int) -> None:
        super().__init__(daemon=True, name=name)
        self.world = world
        self.random = random.Random(seed)
        self.record = Record(world.folder / f"client-{name}.jsonl")
        # The second one is for what is asked of two servers at once.
        self.callers = [Caller(name, self.record), Caller(f"{name}b", self.record)]
        self.number = 0
        self.customer = ""
        self.bought: list[dict] = []
        # Requests that were answered for good under a key, to be made again much later.
        self.kept: list[tuple] = []
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            while self.world.enter():
                try:
                    self.errand()
                finally:
                    self.world.leave()
        except BaseException as fault:
            self.fault = fault
        finally:
            for caller in self.callers:
                caller.close()

    def errand(self) -> None:
        if self.number % 12 == 0:
            self.customer = f"{self.name}.{self.number // 12}"
            self.world.store.customer(self.customer)
            self.bought = []
        self.number += 1
        draw = self.random.random()
        if draw < 0.08:
            self.forge()
        elif draw < 0.20 and self.bought:
            self.refund(self.random.choice(self.bought))
        elif draw < 0.32 and self.bought:
            self.use()
        elif draw < 0.45 and self.bought:
            self.repeat(self.random.choice(self.bought))
        elif draw < 0.52 and self.kept:
            self.settle(*self.random.choice(self.kept))
        else:
            self.purchase()
        time.sleep(self.random.uniform(0, self.world.think))

    # What is asked of a server

    def settle(self, line: dict, method: str, path: str, body: object, key: str | None = None, second: int = 0) -> dict:
        """Sends a request until the answer is one for good; gives that."""
        caller = self.callers[second]
        started, attempt = time.monotonic(), 0
        place = (self.random.randrange(len(self.world.nodes)) + second) % len(self.world.nodes)
        name = uuid.UUID(int=self.random.getrandbits(128)).hex
        while True:
            node = self.world.nodes[(place + attempt) % len(self.world.nodes)]
            has_jumped = node.has_jumped
            status, answer = caller.send(node, method, path, body, key)
            attempt += 1
            caller.log(line | {"request": name, "attempt": attempt, "path": path, "key": key}, status, answer)
            is_final = status is not None and status < 500 and status not in (408, 429)
            # A server whose clock is far off finds certificates out of date: for it that is no lie.
            if is_final and not (status == 422 and (has_jumped or node.has_jumped) and not line.get("is_forged")):
                if key and attempt == 1 and len(self.kept) < 500 and line["kind"] != "reused key":
                    self.kept.append((line, method, path, body, key))
                return {"status": status, "answer": json.loads(answer) if answer else None}
            if time.monotonic() - started > self.world.patience:
                raise GivenUp(f"{path}: {status} after {attempt} attempts")
            time.sleep(min(0.05 * 2 ** min(attempt, 5), 1) * self.random.uniform(0.5, 1))

    def twice(self, first: tuple, second: tuple) -> list[dict]:
        """Two requests at once, to two servers if there are two."""
        answers: list = [None, None]

        def run(place: int, arguments: tuple) -> None:
            try:
                answers[place] = self.settle(*arguments, second=place)
            except BaseException as fault:
                answers[place] = fault

        other = threading.Thread(target=run, args=(1, second))
        other.start()
        run(0, first)
        other.join()
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return answers

    # Errands

    def purchase(self) -> None:
        product = self.random.choice(list(GOODS))
        is_sword = product.endswith("sword")
        if is_sword and any(sold["product"] == product for sold in self.bought):
            product, is_sword = f"{BUNDLE_ID}.coins.100", False
        quantity = 1 if is_sword else self.random.choice((1, 1, 1, 2, 3))
        token = None
        if self.random.random() < 0.3:
            token = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        order = {
            "order_id": f"{self.name}-{self.number}",
            "customer_id": self.customer,
            "product_id": product,
            "quantity": quantity,
        }
        members = {"quantity": quantity}
        if token:
            order["app_account_token"] = token
            members["account_token"] = token
        is_late = self.random.random() < 0.15
        if not is_late:
            self.place(order)
        sold = self.world.store.buy(self.customer, product, **members)
        sold |= {"product": product, "order": order["order_id"]}
        if self.random.random() < 0.05:
            # Taken back before anybody has shown it.
            self.world.store.advance("PT1S")
            self.world.store.act("decide_refund", transaction=sold["transaction_id"], decision="full")
            self.settle(*self.submission(sold, is_news=True))
        self.show(sold)
        if is_late:
            self.place(order)
        self.bought.append(sold)

    def place(self, order: dict) -> None:
        line = {"kind": "order", "order": order["order_id"], "customer": order["customer_id"]}
        request = (line, "POST", "/v1/orders", order, f"place-{order['order_id']}")
        if self.random.random() < 0.2:
            self.twice(request, request)
        else:
            self.settle(*request)
        if self.random.random() < 0.1:
            self.settle(*request)

    def submission(self, sold: dict, customer: str | None = None, is_news: bool = False) -> tuple:
        """Of what is news only the transaction itself tells all: a receipt leaves out how much was refunded."""
        transaction = sold["transaction_id"]
        if customer is None and not is_news and self.random.random() < 0.12:
            proof, kind = self.world.store.receipt(self.customer), "receipt"
        else:
            proof = self.world.store.get(f"/transactions/{transaction}")["signed_transaction_info"]
            kind = "purchase"
        body = {"proof": proof, "customer_id": customer or self.customer}
        if customer is None and kind == "purchase" and self.random.random() < 0.5:
            body["order_id"] = sold["order"]
        line = {"kind": kind, "transaction": transaction, "customer": body["customer_id"]}
        key = f"show-{uuid.UUID(int=self.random.getrandbits(128)).hex}" if self.random.random() < 0.4 else None
        return line, "POST", "/v1/purchases", body, key

    def show(self, sold: dict) -> None:
        draw = self.random.random()
        mine = self.submission(sold)
        thief = f"thief-{self.name}"
        if draw < 0.20:
            answer, _ = self.twice(mine, mine)
        elif draw < 0.30:
            # Whoever comes first owns it, and nobody else: save what Apple signed for her whose order comes later.
            answer, _ = self.twice(mine, self.submission(sold, thief))
        else:
            answer = self.settle(*mine)
            if draw < 0.40:
                self.settle(*self.submission(sold, thief))
        if self.random.random() < 0.3:
            self.acknowledge(sold, answer)

    def acknowledge(self, sold: dict, answer: dict) -> None:
        for shown in (answer["answer"] or {}).get("transactions", []):
            fulfilment = shown.get("fulfilment") or {}
            if shown["transaction_id"] != sold["transaction_id"] or "fence" not in fulfilment:
                continue
            name, fence = fulfilment["delivery_id"], fulfilment["fence"]
            line = {"kind": "acknowledge", "transaction": sold["transaction_id"], "customer": self.customer}
            self.settle(line, "POST", f"/v1/deliveries/{name}/ack", {"fence": fence}, f"ack-{name}-{fence}")

    def repeat(self, sold: dict) -> None:
        request = self.submission(sold)
        self.settle(*request)
        self.settle(*request)

    def refund(self, sold: dict) -> None:
        if sold.get("is_refunded"):
            return
        sold["is_refunded"] = True
        transaction = sold["transaction_id"]
        before = self.submission(sold)
        self.world.store.advance("PT1S")
        decision = {"decision": "full"}
        if self.random.random() < 0.2:
            decision = {"decision": "prorated", "percentage": self.random.randrange(1, 100) * 1000}
        truth = self.world.store.get(f"/transactions/{transaction}")
        if not truth.get("revocation"):
            self.world.store.act("decide_refund", transaction=transaction, **decision)
        self.settle(*self.submission(sold, is_news=True))
        if self.random.random() < 0.5:
            self.settle(*before)
        if self.random.random() < 0.3:
            self.world.store.advance("PT1S")
            self.world.store.act("reverse_refund", transaction=transaction)
            self.settle(*self.submission(sold, is_news=True))
            self.settle(*before)

    def use(self) -> None:
        key = f"use-{self.name}-{self.number}"
        line = {"kind": "use", "customer": self.customer, "amount": 10}
        path = f"/v1/customers/{self.customer}/balances/gems/use"
        request = (line, "POST", path, {"amount": 10} | HERE, key)
        if self.random.random() < 0.3:
            self.twice(request, request)
        else:
            self.settle(*request)
        if self.random.random() < 0.3:
            self.settle(*request)
        if self.random.random() < 0.1:
            # Another request under the same key: refused, and without effect.
            other = line | {"kind": "reused key"}
            self.settle(other, "POST", path, {"amount": 20} | HERE, key)

    def forge(self) -> None:
        """Shows what nobody's purchase is: the genuine proof is never shown to anybody."""
        sold = self.world.store.buy(self.world.mallory, f"{BUNDLE_ID}.coins.1000")
        flaw = self.random.choice(self.world.flaws)
        signed = self.world.store.get(f"/transactions/{sold['transaction_id']}/flawed/{flaw}")
        line = {"kind": "forged", "flaw": flaw, "transaction": sold["transaction_id"], "is_forged": True}
        line["customer"] = self.customer
        body = {"proof": signed["signed_transaction_info"], "customer_id": self.customer}
        self.settle(line, "POST", "/v1/purchases", body)
