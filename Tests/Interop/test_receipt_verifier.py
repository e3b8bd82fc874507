"""apple-purchase-receipt-verifier, unchanged, reads the store's receipts and agrees on every field."""

import json
import unittest

from apple_purchase_receipt_verifier import Config, Environment, Verifier

from simulator import BUNDLE_ID, SHARED_SECRET, SimulatorTest, milliseconds


def seconds(text: str | None) -> int | None:
    """Receipts have whole seconds."""
    moment = milliseconds(text)
    return None if moment is None else moment // 1000 * 1000


class ReceiptVerifierTest(SimulatorTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.verifier = Verifier(Config(roots=cls.store.roots))
        for environment in ("production", "sandbox"):
            name = f"{environment}-customer"
            cls.store.customer(name, environment=environment)
            cls.store.buy(name, "coins.100", quantity=3)
            cls.store.buy(name, "sword")
            cls.store.buy(name, "pass.season")
            cls.store.buy(name, "pro.monthly")
            cls.store.advance("P3M")
            cls.store.act("decide_refund", customer=name, product="sword", decision="full")

    def test_every_field(self) -> None:
        for environment in ("production", "sandbox"):
            for digest in ("sha256", "sha1"):
                with self.subTest(environment=environment, digest=digest):
                    name = f"{environment}-customer"
                    result = self.verifier.verify_receipt(self.store.receipt(name, digest))
                    self.assertIsNone(result.failure)
                    payload = result.payload
                    self.assertEqual(payload.bundle_id, BUNDLE_ID)
                    self.assertEqual(payload.environment.name, environment.upper())
                    ledger = {sold["transaction_id"]: sold for sold in self.store.transactions(name)}
                    self.assertEqual({purchase.transaction_id for purchase in payload.in_app}, set(ledger))
                    for purchase in payload.in_app:
                        self.compare(purchase, ledger[purchase.transaction_id])

    def compare(self, purchase, sold: dict) -> None:
        self.assertEqual(purchase.product_id, sold["product"])
        self.assertEqual(purchase.quantity, sold["quantity"])
        self.assertEqual(purchase.original_transaction_id, sold["original_transaction_id"])
        self.assertEqual(purchase.purchase_date_ms, seconds(sold["purchased_at"]))
        self.assertEqual(purchase.original_purchase_date_ms, seconds(sold["originally_purchased_at"]))
        self.assertEqual(purchase.expires_date_ms, seconds(sold.get("expires_at")))
        item = sold.get("web_order_line_item_id")
        self.assertEqual(purchase.web_order_line_item_id or None, None if item is None else int(item))
        refunded = sold.get("revocation", {}).get("at") if sold["type"] != "consumable" else None
        self.assertEqual(purchase.cancellation_date_ms, seconds(refunded))
        offer = sold.get("offer", {})
        is_introductory = offer.get("type") == 1
        is_trial = is_introductory and offer.get("discount") == "FREE_TRIAL"
        self.assertEqual(bool(purchase.is_trial_period), is_trial)
        self.assertEqual(bool(purchase.is_in_intro_offer_period), is_introductory and not is_trial)

    def test_the_same_answer_as_its_own_endpoint(self) -> None:
        """Of what both can know: it decodes offline, the store knows what happened since."""
        for environment in ("production", "sandbox"):
            with self.subTest(environment):
                request = {"receipt-data": self.store.receipt(f"{environment}-customer"), "password": SHARED_SECRET}
                ours = self.ask(environment, request)
                theirs = json.loads(
                    self.verifier.verify_receipt_endpoint(Environment[environment.upper()], json.dumps(request))
                )
                self.assertEqual(ours["status"], theirs["status"])
                self.assertEqual(ours["environment"], theirs["environment"])
                for key, value in theirs["receipt"].items():
                    if key not in ("in_app", "request_date", "request_date_ms", "request_date_pst"):
                        self.assertEqual(ours["receipt"].get(key), value, key)
                of_ours = {entry["transaction_id"]: entry for entry in ours["receipt"]["in_app"]}
                for entry in theirs["receipt"]["in_app"]:
                    known = of_ours.pop(entry["transaction_id"])
                    for key, value in entry.items():
                        # It copies the receipt's attribute; Apple's answer has this one of subscriptions only.
                        if key == "is_in_intro_offer_period" and "expires_date" not in known:
                            continue
                        self.assertEqual(known.get(key), value, key)
                self.assertEqual(of_ours, {})

    def ask(self, environment: str, request: dict) -> dict:
        import requests

        return requests.post(f"{self.store.url}/{environment}/verifyReceipt", json=request, timeout=30).json()


if __name__ == "__main__":
    unittest.main()
