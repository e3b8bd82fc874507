"""A whole purchase, from the order to the goods: Assay serves, the simulated store signs, and a shop that trusts nothing
but a library of others receives the webhooks. Then the same with a shop that is away for a while."""

import tempfile
import unittest
from pathlib import Path

from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from server import Assay
from shop import Shop
from simulator import BUNDLE_ID, Simulator


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

    def test_of_a_part_that_is_refunded_the_rest_stays_delivered(self) -> None:
        self.order("o-1")
        sold = self.store.buy("anna", BUNDLE_ID + ".coins.100")["transaction_id"]
        self.show(sold)
        self.shop.wait("order.delivered")
        self.store.act("decide_refund", transaction=sold, decision="prorated", percentage=40_000)
        fulfilment = self.show(sold)
        self.assertEqual((fulfilment["state"], fulfilment["delivery"]), ("partly_reversed", "acknowledged"))
        told = self.shop.wait("delivery.compensated", "order.refund_changed")
        self.assertNotIn("order.refunded", told)
        order = self.assay.call("GET", "/v1/orders/o-1")[1]
        self.assertEqual((order["state"], order["refunded_percentage"]), ("delivered", 40_000))
        (delivery,) = self.shop.goods.values()
        self.assertEqual((delivery[0], delivery[1]["state"], delivery[1]["goods"][0]["left"]), (2, "partly_reversed", 60))
        self.assertEqual(self.balance(), 60)
        self.store.advance("PT1S")
        self.store.act("reverse_refund", transaction=sold)
        self.assertEqual(self.show(sold)["state"], "granted")
        self.shop.wait("delivery.restored")
        self.assertEqual(self.balance(), 100)

    def test_what_is_left_of_what_was_not_delivered_is_acknowledged_by_the_refunds_own_message(self) -> None:
        self.shop.status = 503
        self.order("o-1")
        sold = self.store.buy("anna", BUNDLE_ID + ".coins.100")["transaction_id"]
        self.show(sold)
        self.store.act("decide_refund", transaction=sold, decision="prorated", percentage=40_000)
        self.assertEqual(self.show(sold)["delivery"], "pending")
        self.shop.status = 200
        for _ in range(100):
            everything = {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
            self.assay.call("POST", f"/v1/webhooks/{self.endpoint}/replay", everything)
            if self.shop.wait_for(1, "delivery.acknowledged", seconds=1):
                break
        self.assertEqual(self.show(sold)["delivery"], "acknowledged")
        self.assertEqual(self.assay.call("GET", "/v1/orders/o-1")[1]["state"], "delivered")

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
