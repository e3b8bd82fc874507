"""Clients of Apple's verifyReceipt, unchanged but for the address, ask Assay instead; and its answers are held beside those of
the simulated App Store, field by field."""

import base64
import hashlib
import json
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import itunesiap
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from inapppy import AppStoreValidator, InAppPyValidationError

from server import COINS, KEY, Assay
from simulator import BUNDLE_ID, SHARED_SECRET, Simulator

PRO = {"id": BUNDLE_ID + ".pro.monthly", "kind": "auto_renewable_subscription", "goods": [{"entitlement": "pro"}]}
# What StoreKit 2 and Apple's own servers tell, and no receipt.
UNSIGNED = {"in_app_ownership_type", "subscription_group_identifier"}


def post(url: str, body: dict, **fields: str) -> tuple[int, dict]:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json;charset=UTF-8"} | fields, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.loads(refusal.read())


class FacadesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.store = Simulator()
        cls.addClassCleanup(cls.store.close)
        app = {"needs_orders": False}
        cls.key = Ed25519PrivateKey.generate()
        file = Path(folder.name, "signing-key.pem")
        file.write_bytes(cls.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        file.chmod(0o600)
        # iOS 6 receipts do not carry the certificate that issued their signer's.
        certificates = str(Path(cls.store.folder.name, "certificates"))
        settings = {"ASSAY_ANSWERS_SIGNING_KEY_FILE": str(file), "ASSAY_TRUST_CERTIFICATES": certificates}
        cls.assay = Assay(Path(folder.name), cls.store, products=[COINS, PRO], app=app, environment=settings)
        cls.addClassCleanup(cls.assay.close)
        cls.store.customer("anna")
        cls.plan = cls.store.buy("anna", "pro.monthly")
        cls.store.buy("anna", "coins.100")
        cls.store.customer("tester", environment="sandbox")
        cls.store.buy("tester", "coins.100")

    # verifyReceipt

    def request(self, customer: str, password: str = KEY) -> itunesiap.Request:
        made = itunesiap.Request(self.store.receipt(customer), password=password)
        made.PRODUCTION_VALIDATION_URL = self.assay.url + "/verifyReceipt"
        made.SANDBOX_VALIDATION_URL = self.assay.url + "/sandbox/verifyReceipt"
        return made

    def test_itunes_iap_reads_a_receipt_and_it_is_recorded(self) -> None:
        response = self.request("anna").verify(env=itunesiap.env.production)
        self.assertEqual(response.status, 0)
        self.assertEqual(response.receipt.bundle_id, BUNDLE_ID)
        sold = {entry["transaction_id"] for entry in self.store.transactions("anna")}
        self.assertEqual({str(entry.transaction_id) for entry in response.receipt.in_app}, sold)
        for number in sold:
            status, found = self.assay.call("GET", f"/v1/transactions/{number}")
            self.assertEqual((status, len(found["transactions"])), (200, 1))

    def test_itunes_iap_falls_back_to_sandbox(self) -> None:
        with self.assertRaises(itunesiap.exc.InvalidReceipt) as refusal:
            self.request("tester").verify(env=itunesiap.env.production)
        self.assertEqual(refusal.exception.status, 21_007)
        self.assertEqual(self.request("tester").verify(env=itunesiap.env.review).status, 0)

    def test_itunes_iap_hears_of_a_wrong_secret(self) -> None:
        with self.assertRaises(itunesiap.exc.InvalidReceipt) as refusal:
            self.request("anna", "0" * 32).verify(env=itunesiap.env.production)
        self.assertEqual(refusal.exception.status, 21_004)

    def validator(self, **members: object) -> AppStoreValidator:
        url = self.assay.url

        class Ours(AppStoreValidator):
            def _change_url_by_sandbox(self) -> None:
                self.url = url + ("/sandbox" if self.sandbox else "") + "/verifyReceipt"

        return Ours(**members)

    def test_inapppy_reads_a_receipt(self) -> None:
        answer = self.validator().validate(self.store.receipt("anna"), KEY, exclude_old_transactions=True)
        self.assertEqual(answer["status"], 0)
        plans = [entry for entry in answer["latest_receipt_info"] if entry["product_id"] == PRO["id"]]
        self.assertEqual(len(plans), 1)
        self.assertEqual([each["product_id"] for each in answer["pending_renewal_info"]], [PRO["id"]])

    def test_inapppy_changes_the_environment(self) -> None:
        with self.assertRaises(InAppPyValidationError) as refusal:
            self.validator().validate(self.store.receipt("tester"), KEY)
        self.assertEqual(refusal.exception.raw_response, {"status": 21_007})
        answer = self.validator(auto_retry_wrong_env_request=True).validate(self.store.receipt("tester"), KEY)
        self.assertEqual(answer["environment"], "Sandbox")

    def test_inapppy_hears_of_nonsense(self) -> None:
        with self.assertRaises(InAppPyValidationError) as refusal:
            self.validator().validate("bm9uc2Vuc2U=", KEY)
        self.assertEqual(refusal.exception.raw_response, {"status": 21_002})

    def both(self, receipt: str) -> tuple[dict, dict]:
        """What Apple's side answers, and what Assay answers."""
        theirs = post(self.store.url + "/production/verifyReceipt", {"receipt-data": receipt, "password": SHARED_SECRET})
        ours = post(self.assay.url + "/verifyReceipt", {"receipt-data": receipt, "password": KEY})
        self.assertEqual((theirs[0], ours[0]), (200, 200), ours)
        return theirs[1], ours[1]

    def assertAlike(self, ours: dict, theirs: dict, but: set[str]) -> None:
        for name in theirs.keys() | ours.keys():
            if name not in but and not name.startswith("request_date"):
                self.assertEqual(ours.get(name), theirs.get(name), name)

    def test_the_answer_is_apples(self) -> None:
        theirs, ours = self.both(self.store.receipt("anna"))
        self.assertAlike(ours["receipt"], theirs["receipt"], {"in_app"})
        self.assertEqual({*ours}, {*theirs})
        key = lambda entry: entry["transaction_id"]
        for mine, apples in zip(sorted(ours["receipt"]["in_app"], key=key), sorted(theirs["receipt"]["in_app"], key=key)):
            self.assertAlike(mine, apples, UNSIGNED)
        self.assertEqual(len(ours["latest_receipt_info"]), len(theirs["latest_receipt_info"]))
        latest = [sorted(answer["latest_receipt_info"], key=key) for answer in (ours, theirs)]
        for mine, apples in zip(*latest):
            self.assertAlike(mine, apples, UNSIGNED)
        (mine,), (apples,) = ours["pending_renewal_info"], theirs["pending_renewal_info"]
        self.assertAlike(mine, apples, {"auto_renew_status"})

    def test_an_ios_6_receipt_is_answered_in_its_own_form(self) -> None:
        sold = self.plan["transaction_id"]
        receipt = self.store.get(f"/transactions/{sold}/receipt?version=3")["receipt_data"]
        theirs, ours = self.both(receipt)
        self.assertEqual((ours["status"], theirs["status"]), (0, 0))
        known = {"bvrs", "item_id", "app_item_id", "version_external_identifier", "unique_identifier"}
        known |= {"unique_vendor_identifier", "is_trial_period", "is_in_intro_offer_period"} | UNSIGNED
        self.assertAlike(ours["receipt"], theirs["receipt"], known)
        self.assertAlike(ours["latest_receipt_info"], theirs["latest_receipt_info"], known)

    # Signed answers

    def test_an_answer_is_signed(self) -> None:
        target, nonce = "/v1/customers/anna/entitlements", "0123456789abcdef"
        fields = {"Authorization": f"Bearer {KEY}", "Assay-Nonce": nonce}
        with urllib.request.urlopen(urllib.request.Request(self.assay.url + target, headers=fields)) as answer:
            body, told = answer.read(), answer.headers
        _, listed = self.assay.call("GET", "/v1/signing-keys")
        (key,) = listed["keys"]
        self.assertEqual(told["Assay-Key-ID"], key["key_id"])
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key["public_key"]))
        self.assertEqual(public.public_bytes_raw(), self.key.public_key().public_bytes_raw())
        sent = [hashlib.sha256(part).hexdigest() for part in (fields["Authorization"].encode(), b"")]
        lines = ["assay-answer-v2", nonce, told["Assay-Signed-At"], f"GET {target}", *sent, "200", ""]
        head = "\n".join(lines).encode()
        signature = base64.b64decode(told["Assay-Signature"])
        public.verify(signature, head + body)
        with self.assertRaises(InvalidSignature):
            public.verify(signature, head + body + b" ")

    # cordova-plugin-purchase

    def ask(self, transaction: dict, **members: object) -> tuple[int, dict]:
        body = {"id": BUNDLE_ID, "type": "application", "transaction": {"id": BUNDLE_ID, **transaction}, **members}
        return post(self.assay.url + "/validator", body, Authorization=f"Bearer {KEY}")

    def test_the_validator_takes_storekit_1_and_2(self) -> None:
        self.store.customer("carl")
        sold = self.store.buy("carl", "coins.100")["transaction_id"]
        jws = self.store.get(f"/transactions/{sold}")["signed_transaction_info"]
        user = {"additionalData": {"applicationUsername": "user-42"}}
        for transaction in (
            {"type": "ios-appstore", "appStoreReceipt": self.store.receipt("carl")},
            {"type": "apple-sk2", "jwsRepresentation": jws},
        ):
            status, answer = self.ask(transaction, **user)
            self.assertEqual((status, answer["ok"]), (200, True), answer)
            self.assertEqual(answer["data"]["transaction"]["type"], transaction["type"])
            (entry,) = answer["data"]["collection"]
            self.assertEqual((entry["id"], entry["transactionId"], entry["isExpired"]), (COINS["id"], sold, False))
        _, found = self.assay.call("GET", f"/v1/transactions/{sold}")
        self.assertEqual(found["transactions"][0]["customer_id"], "user-42")

    def test_the_plugins_account_token_finds_its_user(self) -> None:
        """In mode `uuid` the plugin gives StoreKit the MD5 of the user's name, in the shape of a UUID."""
        digits = hashlib.md5(b"user-43").hexdigest()
        token = f"{digits[:8]}-{digits[8:12]}-3{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
        self.store.customer("dora")
        sold = self.store.buy("dora", "coins.100", account_token=token)["transaction_id"]
        jws = self.store.get(f"/transactions/{sold}")["signed_transaction_info"]
        transaction = {"type": "apple-sk2", "jwsRepresentation": jws}
        _, answer = self.ask(transaction, additionalData={"applicationUsername": "user-43"})
        self.assertTrue(answer["ok"], answer)
        _, found = self.assay.call("GET", f"/v1/transactions/{sold}")
        self.assertEqual(found["transactions"][0]["customer_id"], "user-43")
        _, other = self.ask(transaction, additionalData={"applicationUsername": "user-44"})
        self.assertEqual((other["ok"], other["code"]), (False, 6_777_017))

    def test_the_validator_says_no(self) -> None:
        status, answer = self.ask({"type": "ios-appstore", "appStoreReceipt": "bm9uc2Vuc2U="})
        self.assertEqual((status, answer["ok"], answer["code"]), (200, False, 6_777_017))


if __name__ == "__main__":
    unittest.main()
