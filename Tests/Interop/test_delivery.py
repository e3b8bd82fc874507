"""A whole purchase, from the order to the goods: Assay serves, the simulated store signs, and a shop that trusts nothing
but a library of others receives the webhooks. Then the same with a shop that is away for a while."""

import json
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

import standardwebhooks
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from simulator import ASSAY, BUNDLE_ID, Simulator

KEY = "sk_interop_0123456789abcdef0123456789abcdef"


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


class Assay:
    """`assay serve` over a folder; it may be killed and started again."""

    def __init__(self, folder: Path, store: Simulator) -> None:
        self.folder = folder
        Path(folder, "key").write_text(KEY)
        Path(folder, "key").chmod(0o600)
        product = {
            "id": BUNDLE_ID + ".coins.100",
            "kind": "consumable",
            "goods": [{"currency": "gems", "amount": 100}],
        }
        configuration = {
            "profile": "development",
            "data": str(folder / "ledger"),
            "listen": "127.0.0.1:0",
            "apps": [
                {
                    "id": "demo",
                    "bundle_id": BUNDLE_ID,
                    "environments": ["production", "sandbox"],
                    "products": [product],
                    "accept_test_signed": True,
                    "needs_orders": True,
                    "sandbox": {"everybody_until": "9999-12-31T23:59:59Z"},
                }
            ],
            "keys": [{"name": "shop", "app": "demo", "secret_file": str(folder / "key")}],
            "trust": {"roots": str(Path(store.folder.name, "roots"))},
            "webhooks": {"allowed_addresses": "127.0.0.0/8,::1/128", "plain_hosts": "localhost"},
        }
        self.configuration = folder / "assay.json"
        self.configuration.write_text(json.dumps(configuration))
        self.start()

    def start(self) -> None:
        log = open(self.folder / "log", "ab")
        mark = log.tell()
        self.process = subprocess.Popen([ASSAY, "serve", "--config", str(self.configuration)], stdout=log, stderr=log)
        log.close()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            text = Path(self.folder, "log").read_bytes()[mark:].decode()
            found = re.search(r'"port":(\d+)', text)
            if found:
                self.url = f"http://127.0.0.1:{found.group(1)}"
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError(f"assay serve did not start: {text}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=20)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)

    def call(self, method: str, path: str, body: object = None, key: str | None = None) -> tuple[int, dict]:
        fields = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        if key:
            fields["Idempotency-Key"] = key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=fields)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.loads(refusal.read())


class DeliveryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.store = Simulator("--start", "2026-01-01T00:00:00Z")
        self.addCleanup(self.store.close)
        self.shop = Shop()
        self.addCleanup(self.shop.close)
        self.assay = Assay(Path(self.folder.name), self.store)
        self.addCleanup(self.assay.close)
        self.store.customer("anna")
        self.endpoint = self.subscribe(acknowledge_by_2xx=True)

    def tearDown(self) -> None:
        """Whatever was sent is as it is described."""
        _, document = self.assay.call("GET", "/openapi.json")
        self.assertEqual([str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()], [])
        for event in self.shop.events:
            if event["type"] == "webhook.test":
                continue
            body = document["webhooks"][event["type"]]["post"]["requestBody"]
            schema = body["content"]["application/json"]["schema"]
            faults = OAS31Validator({**schema, "components": document["components"]}).iter_errors(event)
            self.assertEqual([str(fault) for fault in faults], [], event)

    def subscribe(self, **members: object) -> str:
        status, made = self.assay.call(
            "POST",
            "/v1/webhooks",
            {
                "url": self.shop.url,
                "environments": ["production", "sandbox"],
                "include_test_signed": True,
                "order_per_customer": True,
                **members,
            },
        )
        self.assertEqual(status, 201, made)
        self.shop.secret = made["secret"]
        return made["webhook_id"]

    def order(self, name: str) -> None:
        body = {"order_id": name, "customer_id": "anna", "product_id": BUNDLE_ID + ".coins.100"}
        status, answer = self.assay.call("POST", "/v1/orders", body, key=f"place-{name}")
        self.assertEqual(status, 201, answer)

    def proof(self, transaction: str) -> str:
        return self.store.get(f"/transactions/{transaction}")["signed_transaction_info"]

    def show(self, transaction: str) -> dict:
        status, answer = self.assay.call(
            "POST",
            "/v1/purchases",
            {"proof": self.proof(transaction), "customer_id": "anna"},
        )
        self.assertEqual(status, 200, answer)
        return answer["transactions"][0]["fulfilment"]

    def balance(self) -> int:
        _, answer = self.assay.call("GET", "/v1/customers/anna/balances")
        return sum(balance["balance"] for balance in answer["balances"])

    def test_an_order_is_paid_delivered_acknowledged_and_refunded(self) -> None:
        self.order("o-1")
        sold = self.store.buy("anna", BUNDLE_ID + ".coins.100")["transaction_id"]
        fulfilment = self.show(sold)
        self.assertEqual((fulfilment["state"], fulfilment["order_id"]), ("granted", "o-1"))
        told = self.shop.wait("delivery.granted", "order.delivered")
        # What is sent in the order of each side of the wall: the order was placed before anybody knew which.
        self.assertIn("order.placed", told)
        self.assertEqual(self.assay.call("GET", "/v1/orders/o-1")[1]["state"], "delivered")
        self.assertEqual(self.balance(), 100)
        self.store.act("decide_refund", transaction=sold, decision="full")
        self.show(sold)
        self.shop.wait("delivery.compensated", "order.refunded")
        self.assertEqual(self.balance(), 0)
        (delivery,) = self.shop.goods.values()
        self.assertEqual((delivery[0], delivery[1]["state"]), (2, "reversed"))

    def test_a_shop_that_is_away_hears_everything_once_in_order_after_a_crash_of_ours(self) -> None:
        self.shop.status = 503
        for number in range(5):
            self.order(f"o-{number}")
            self.show(self.store.buy("anna", BUNDLE_ID + ".coins.100")["transaction_id"])
        self.assay.kill()
        self.shop.status = 200
        self.assay.start()
        # It was told to come back later, and does when it is asked to.
        for _ in range(100):
            everything = {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
            self.assay.call("POST", f"/v1/webhooks/{self.endpoint}/replay", everything)
            if self.shop.wait_for(5, "order.delivered", seconds=1):
                break
        sequences: dict[tuple, list[int]] = {}
        for event in self.shop.events:
            data = event["data"]
            stream = (data["environment"], data.get("test_signed", False), data.get("customer_id"))
            sequences.setdefault(stream, []).append(data["sequence"])
        for stream, numbers in sequences.items():
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)), stream)
        self.assertEqual(len(self.shop.goods), 5)
        self.assertEqual(self.balance(), 500)

    def test_a_test_message_says_what_the_shop_answered(self) -> None:
        status, answer = self.assay.call("POST", f"/v1/webhooks/{self.endpoint}/test", {})
        self.assertEqual((status, answer.get("status")), (200, 200), answer)
        self.shop.status = 500
        self.assertEqual(self.assay.call("POST", f"/v1/webhooks/{self.endpoint}/test", {})[1]["status"], 500)

    def test_nobody_has_us_call_a_neighbour(self) -> None:
        for url in ("http://127.0.0.1:1/", "https://user@example.com/", "ftp://localhost/", "https://example.com:22/"):
            with self.subTest(url=url):
                status, answer = self.assay.call("POST", "/v1/webhooks", {"url": url})
                self.assertEqual((status, answer.get("field")), (400, "url"), answer)


if __name__ == "__main__":
    unittest.main()
