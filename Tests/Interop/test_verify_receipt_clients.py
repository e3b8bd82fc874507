"""Clients of verifyReceipt that others wrote, unchanged but for the address."""

import unittest

import itunesiap
from inapppy import AppStoreValidator, InAppPyValidationError

from simulator import SHARED_SECRET, SimulatorTest


class ClientsTest(SimulatorTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.production, cls.sandbox = (f"{cls.store.url}/{name}/verifyReceipt" for name in ("production", "sandbox"))
        cls.store.customer("anna")
        cls.store.buy("anna", "pro.monthly")
        cls.store.customer("tester", environment="sandbox")
        cls.store.buy("tester", "sword")
        cls.store.advance("P2M")

    def request(self, customer: str, **members) -> itunesiap.Request:
        made = itunesiap.Request(self.store.receipt(customer), **members)
        made.PRODUCTION_VALIDATION_URL, made.SANDBOX_VALIDATION_URL = self.production, self.sandbox
        return made

    def test_itunes_iap_reads_a_subscription(self) -> None:
        response = self.request("anna", password=SHARED_SECRET).verify()
        self.assertEqual(response.status, 0)
        owned = self.store.transactions("anna")
        self.assertEqual({str(entry.transaction_id) for entry in response.receipt.in_app},
                         {sold["transaction_id"] for sold in owned})
        self.assertEqual(response.receipt.bundle_id, "com.example.demo")
        newest = response.receipt.last_in_app
        self.assertEqual(newest.product_id, "com.example.demo.pro.monthly")

    def test_itunes_iap_falls_back_to_sandbox(self) -> None:
        with self.assertRaises(itunesiap.exc.InvalidReceipt) as refusal:
            self.request("tester").verify(env=itunesiap.env.production)
        self.assertEqual(refusal.exception.status, 21_007)
        response = self.request("tester").verify(env=itunesiap.env.review)
        self.assertEqual(response.status, 0)

    def test_itunes_iap_hears_of_a_wrong_secret(self) -> None:
        with self.assertRaises(itunesiap.exc.InvalidReceipt) as refusal:
            self.request("anna", password="0" * 32).verify()
        self.assertEqual(refusal.exception.status, 21_004)

    def validator(self, **members) -> AppStoreValidator:
        production, sandbox = self.production, self.sandbox

        class Ours(AppStoreValidator):
            def _change_url_by_sandbox(self) -> None:
                self.url = sandbox if self.sandbox else production

        return Ours(**members)

    def test_inapppy_reads_a_subscription(self) -> None:
        answer = self.validator().validate(self.store.receipt("anna"), SHARED_SECRET)
        self.assertEqual(answer["status"], 0)
        self.assertEqual(len(answer["latest_receipt_info"]), len(self.store.transactions("anna")))
        [pending] = answer["pending_renewal_info"]
        self.assertEqual(pending["auto_renew_status"], "1")
        newest = self.validator().validate(self.store.receipt("anna"), SHARED_SECRET, exclude_old_transactions=True)
        self.assertEqual(len(newest["latest_receipt_info"]), 1)

    def test_inapppy_changes_the_environment(self) -> None:
        with self.assertRaises(InAppPyValidationError) as refusal:
            self.validator().validate(self.store.receipt("tester"))
        self.assertEqual(refusal.exception.raw_response, {"status": 21_007})
        answer = self.validator(auto_retry_wrong_env_request=True).validate(self.store.receipt("tester"))
        self.assertEqual(answer["environment"], "Sandbox")

    def test_inapppy_reads_an_ios_6_receipt(self) -> None:
        sold = self.store.transactions("anna")[0]["transaction_id"]
        receipt = self.store.get(f"/transactions/{sold}/receipt?version=3")["receipt_data"]
        answer = self.validator().validate(receipt, SHARED_SECRET)
        self.assertEqual(answer["receipt"]["transaction_id"], sold)
        self.assertEqual(answer["receipt"]["bid"], "com.example.demo")

    def test_nonsense_is_21002(self) -> None:
        with self.assertRaises(InAppPyValidationError) as refusal:
            self.validator().validate("bm9uc2Vuc2U=")
        self.assertEqual(refusal.exception.raw_response["status"], 21_002)


if __name__ == "__main__":
    unittest.main()
