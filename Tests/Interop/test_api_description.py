"""openapi-spec-validator, unchanged, accepts the API's description; and what a server answers is as it says."""

import base64
import json
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

from contract import Contract
from server import COINS, KEY, Assay
from shop import Shop
from simulator import BUNDLE_ID, Simulator

PRO = {"id": BUNDLE_ID + ".pro.monthly", "kind": "auto_renewable_subscription", "goods": [{"entitlement": "pro"}]}
COINS_ID = COINS["id"]
TOKENS = ("7e3fb20b-4cdb-47cc-936d-99d65f608138", "8f4ac31c-5dec-48dd-a47e-0ae76a719249")


class ApiDescriptionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        # From now on: what was bought is to be in force.
        cls.store = Simulator()
        cls.addClassCleanup(cls.store.close)
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)
        key = Path(folder.name, "merchant-key.p8")
        key.write_bytes(cls.store.key)
        key.chmod(0o600)
        merchant = {
            "issuer_id": cls.store.issuer_id,
            "key_id": cls.store.key_id,
            "private_key_file": str(key),
            "hosts": cls.store.hosts,
        }
        cls.assay = Assay(Path(folder.name), cls.store, products=[COINS, PRO], app={"app_store": merchant})
        cls.addClassCleanup(cls.assay.close)
        cls.store.customer("anna")
        _, document = cls.assay.call("GET", "/openapi.json")
        cls.contract = Contract(document)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        expecting: int | str = 200,
        fields: dict[str, str] | None = None,
    ) -> dict:
        """Sends a request and holds the answer to the description. `expecting` is a status, or a problem's code."""
        fields = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"} | (fields or {})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.assay.url + path, data=data, method=method, headers=fields)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, self.fields, text = answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as refusal:
            with refusal:
                status, self.fields, text = refusal.code, refusal.headers, refusal.read()
        content = self.contract.check(self, method, path, status, self.fields, text)
        self.assertEqual(content["code"] if isinstance(expecting, str) else status, expecting, content)
        return content

    def buy(self, product: str, **members: object) -> dict:
        """What the customer bought, shown to the server."""
        sold = self.store.buy("anna", product, **members)["transaction_id"]
        proof = self.store.get(f"/transactions/{sold}")["signed_transaction_info"]
        return {"proof": proof, "customer_id": "anna"}

    def order(self, name: str, **members: object) -> None:
        body = {"order_id": name, "customer_id": "anna", "product_id": COINS_ID, **members}
        self.assertEqual(self.ask("POST", "/v1/orders", body, 201)["state"], "pending")

    def test_the_document_is_open_api(self) -> None:
        faults = OpenAPIV31SpecValidator(self.contract.document).iter_errors()
        self.assertEqual([str(fault) for fault in faults], [])

    def test_every_operation_answers_as_described(self) -> None:
        for step in (self.health, self.webhooks, self.purchases, self.orders, self.customers):
            step()
        for step in (self.notifications, self.consumption, self.support, self.signatures, self.keys):
            step()
        for step in (self.facades, self.catalogue):
            step()
        for step in (self.log, self.figures, self.operating, self.refusals):
            step()
        # Nothing was given up here that could be run again.
        self.assertEqual(self.contract.operations - self.contract.answered, {"retry_job"})

    def health(self) -> None:
        for path in ("/livez", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/purchases", "/v1/signing-keys"):
            self.ask("GET", path)
        self.ask("GET", "/docs/none", None, "not_found")

    def webhooks(self) -> None:
        body = {"url": self.shop.url, "environments": ["production", "sandbox"], "include_test_signed": True}
        named = {"Idempotency-Key": "webhook-1"}
        made = self.ask("POST", "/v1/webhooks", body, 201, named)
        del made["secret"]
        self.assertEqual(self.ask("POST", "/v1/webhooks", body, 201, named), made)
        self.assertEqual(self.fields["Idempotent-Replayed"], "true")
        self.ask("POST", "/v1/webhooks", {"url": "http://10.0.0.1/"}, "invalid_request")
        self.ask("POST", "/v1/webhooks", {**body, "concurrency": 2}, "idempotency_key_reused", named)
        self.endpoint = f"/v1/webhooks/{made['webhook_id']}"
        self.shop.secret = self.ask("POST", f"{self.endpoint}/rotate")["secret"]
        self.ask("POST", f"{self.endpoint}/rotate", {"keep": 1})
        self.ask("POST", self.endpoint, {"concurrency": 4, "types": ["delivery.granted", "order.paid"], "per_second": 9})
        self.ask("POST", f"{self.endpoint}/test")
        self.ask("GET", self.endpoint)
        self.ask("GET", "/v1/webhooks")

    def purchases(self) -> None:
        self.order("o-1")
        shown = self.buy(COINS_ID)
        (bought,) = self.ask("POST", "/v1/purchases", shown)["transactions"]
        self.assertEqual(self.ask("POST", "/v1/purchases", shown)["result"], "already_recorded")
        (foreign,) = self.ask("POST", "/v1/purchases", {**shown, "customer_id": "bert"})["transactions"]
        self.assertEqual(foreign["decision"], "owned_by_another_customer")
        self.ask("GET", f"/v1/transactions/{bought['transaction_id']}")
        self.order("p-1", product_id=PRO["id"])
        (plan,) = self.ask("POST", "/v1/purchases", self.buy(PRO["id"]))["transactions"]
        self.original = plan["original_transaction_id"]
        page = self.ask("GET", "/v1/customers/anna/transactions?limit=1")
        self.ask("GET", f"/v1/customers/anna/transactions?limit=1&after={page['next']}")
        delivery = f"/v1/deliveries/{bought['fulfilment']['delivery_id']}"
        fence = self.ask("GET", delivery)["fence"]
        self.ask("POST", f"{delivery}/ack", {"fence": fence + 1}, "stale_fence")
        self.ask("POST", f"{delivery}/ack", {"fence": fence})
        self.store.act("decide_refund", transaction=bought["transaction_id"], decision="prorated", percentage=25_000)
        news = self.store.get(f"/transactions/{bought['transaction_id']}")["signed_transaction_info"]
        (part,) = self.ask("POST", "/v1/purchases", {**shown, "proof": news})["transactions"]
        self.assertEqual((part["decision"], part["fulfilment"]["state"]), ("partly_revoked", "partly_reversed"))
        self.assertEqual(self.ask("GET", "/v1/orders/o-1")["refunded_percentage"], 25_000)
        pending = self.ask("POST", "/v1/purchases", {"proof": "2000000999999999", "customer_id": "anna"}, 202)
        self.assertEqual(self.fields["Location"], f"/v1/submissions/{pending['submission_id']}")
        self.ask("GET", self.fields["Location"])

    def orders(self) -> None:
        self.order("o-2")
        self.ask("POST", "/v1/orders/o-2/cancel")
        self.ask("POST", "/v1/orders/o-2/cancel")
        self.ask("POST", "/v1/orders/o-1/cancel", None, "order_is_delivered")
        self.ask("POST", "/v1/orders", {"order_id": "o-1", "customer_id": "b", "product_id": COINS_ID}, "order_id_taken")
        # What was bought for another wish than the order's waits until a person says otherwise.
        shown = self.buy(COINS_ID, account_token=TOKENS[0])
        (bought,) = self.ask("POST", "/v1/purchases", shown)["transactions"]
        self.assertEqual(len(self.ask("GET", "/v1/purchases/waiting?limit=1")["purchases"]), 1)
        self.order("o-3", app_account_token=TOKENS[1])
        self.ask("GET", "/v1/orders/o-3")
        page = self.ask("GET", "/v1/orders?customer_id=%61nna&limit=2")
        self.assertEqual([order["order_id"] for order in page["orders"]], ["o-1", "o-2"])
        body = {"transaction_id": bought["transaction_id"], "environment": "production", "test_signed": True}
        self.ask("POST", "/v1/orders/o-1/attach", body, "order_is_delivered")
        self.ask("POST", "/v1/orders/o-3/attach", body, "account_token_contradicts")
        body["overrule_account_token"] = True
        self.assertEqual(self.ask("POST", "/v1/orders/o-3/attach", body)["state"], "paid")
        self.ask("POST", "/v1/orders/o-3/attach", {**body, "transaction_id": "1"}, "not_found")

    def customers(self) -> None:
        test = "environment=production&test_signed=true"
        wall = {"environment": "production", "test_signed": True}
        for kind in ("entitlements", "subscriptions", "balances"):
            self.assertTrue(self.ask("GET", f"/v1/customers/anna/{kind}")[kind], kind)
        self.ask("GET", f"/v1/subscriptions/{self.original}")
        purse = "/v1/customers/anna/balances/gems"
        self.ask("POST", f"{purse}/use", {"amount": 30, **wall})
        self.ask("POST", f"{purse}/use", {"amount": 10**9, **wall}, "insufficient_balance")
        self.ask("POST", f"{purse}/adjust", {"amount": -5.0, **wall})
        slip = self.ask("POST", "/v1/customers/anna/balances/gmes/adjust", {"amount": 5, **wall}, "unknown_currency")
        self.assertEqual(slip["currencies"], ["gems"])
        self.assertTrue(self.ask("GET", f"{purse}/postings?{test}&limit=1")["postings"])
        gift = "/v1/customers/anna/granted-entitlements"
        until = {"until": "2999-01-01T00:00:00Z", "reason": "the outage", **wall}
        self.assertFalse(self.ask("POST", f"{gift}/pro/grant", until)["is_revoked"])
        self.ask("POST", f"{gift}/pro/grant", {**until, "until": "2001-01-01T00:00:00Z"}, "already_over")
        self.assertTrue(self.ask("GET", gift)["granted_entitlements"])
        self.assertTrue(self.ask("POST", f"{gift}/pro/revoke", wall)["is_revoked"])
        self.ask("POST", f"{gift}/nothing/revoke", wall, "not_found")
        move = {"original_transaction_id": self.original, "to_customer_id": "bert", "dry_run": True, **wall}
        self.ask("POST", "/v1/transfers", move)
        self.ask("POST", "/v1/transfers", {**move, "to_customer_id": "anna"}, "same_owner")

    def notifications(self) -> None:
        place = f"{self.assay.url}/v1/apple/notifications/demo"
        self.store.call("PUT", f"/apps/{BUNDLE_ID}/notifications", {"url": place})
        self.store.buy("anna", COINS_ID)
        sent = self.store.get("/notices")["notices"][-1]
        kept = self.ask("GET", "/v1/notifications?limit=1")["notifications"]
        self.assertTrue(kept, sent)
        whole = self.ask("GET", f"/v1/notifications/{kept[0]['id']}")
        body = json.loads(base64.b64decode(whole["payload"]))
        self.assertEqual(self.ask("POST", "/v1/apple/notifications/demo", body)["result"], "already_kept")
        self.ask("POST", "/v1/apple/notifications/demo", {"signedPayload": "a.b.c"}, "refused")
        self.ask("POST", "/v1/apple/notifications/demo", {"notification_type": "CANCEL"}, "needs_shared_secret")
        self.ask("POST", "/v1/apple/notifications/nobody", body, "not_found")
        self.ask("GET", "/v1/notifications/figures")

    def figures(self) -> None:
        wall = "environment=production&test_signed=true"
        self.assertTrue(self.ask("GET", f"/v1/metrics/overview?{wall}")["is_complete"])
        for name in self.contract.document["components"]["schemas"]["ChartName"]["enum"]:
            self.ask("GET", f"/v1/charts/{name}?{wall}&currency=USD")
        self.ask("GET", "/v1/charts/mrr", None, "invalid_query")
        self.ask("GET", "/v1/charts/refunds?from=2026-02-30", None, "invalid_query")
        self.ask("GET", "/v1/charts/nothing", None, "not_found")

    def consumption(self) -> None:
        def wanted() -> str:
            """What Apple asks since the customer wants her money back for something."""
            sold = self.store.buy("anna", COINS_ID)["transaction_id"]
            proof = self.store.get(f"/transactions/{sold}")["signed_transaction_info"]
            self.ask("POST", "/v1/purchases", {"proof": proof, "customer_id": "anna"})
            self.store.act("ask_refund", transaction=sold, reason="UNINTENDED_PURCHASE")
            # Apple tells of it by itself, and comes again when it is not heard at once.
            deadline = time.monotonic() + 60
            asked = f"/v1/consumption-requests?state=open&transaction_id={sold}&limit=1"
            while not (found := self.ask("GET", asked)["consumption_requests"]):
                self.assertLess(time.monotonic(), deadline, f"nothing is asked about {sold}")
                time.sleep(0.1)
            return f"/v1/consumption-requests/{found[0]['id']}"

        first, second = wanted(), wanted()
        self.assertEqual(self.ask("GET", first)["waits_for"], "held")
        self.ask("POST", f"{first}/answer", {}, "no_consent")
        self.ask("POST", "/v1/customers/anna/consent", {"is_given": True})
        self.assertTrue(self.ask("GET", "/v1/customers/anna/consent")["is_given"])
        self.ask("POST", f"{first}/answer", {"refund_preference": "perhaps"}, "invalid_request")
        self.ask("POST", f"{first}/answer", {"refund_preference": "decline"})
        self.wait(first, {"open", "sending"}, "answered")
        self.ask("POST", f"{first}/decline", None, "request_is_answered")
        self.assertEqual(self.ask("POST", f"{second}/decline")["state"], "declined")
        self.ask("POST", f"{second}/answer", None, "request_is_declined")
        self.ask("GET", "/v1/consumption-requests?state=gone", None, "invalid_query")

    def support(self) -> None:
        days = {"days": 3, "reason": "service_issue"}
        token = {"app_account_token": TOKENS[0]}
        for path, body in (
            ("orders/MK5TTTVWJH/lookup", None),
            (f"subscriptions/{self.original}/extend", days),
            ("subscriptions/extend", {"product_id": PRO["id"], "storefronts": ["USA"], **days}),
            (f"transactions/{self.original}/account-token", token),
            ("customers/anna/account-token", token),
        ):
            self.ask("POST", f"/v1/apple/{path}", body, 202)
            # A mass extension takes Apple as long as it likes.
            if path != "subscriptions/extend":
                self.wait(self.fields["Location"], {"waiting"})
        self.ask("POST", f"/v1/apple/subscriptions/{self.original}/extend", {"days": 91}, "invalid_request")
        page = self.ask("GET", "/v1/apple/requests?limit=2")
        self.assertEqual(len(self.ask("GET", f"/v1/apple/requests?after={page['next']}")["requests"]), 3)

    def wait(self, path: str, states: set[str], expecting: str | None = None) -> None:
        """Until what is asked for is in none of these states any more."""
        deadline = time.monotonic() + 30
        while (state := self.ask("GET", path)["state"]) in states:
            self.assertLess(time.monotonic(), deadline, f"{path} is {state}")
            time.sleep(0.1)
        self.assertEqual(state, expecting or state)

    def signatures(self) -> None:
        offer = {"product_id": PRO["id"], "offer_id": "welcome-back", "account": "anna"}
        signed = self.ask("POST", "/v1/signatures/promotional-offer", offer)
        introductory = {"product_id": PRO["id"], "transaction_id": self.original, "is_allowed": True}
        self.ask("POST", "/v1/signatures/introductory-offer", introductory)
        self.ask("POST", "/v1/signatures/advanced-commerce", {"request": "{}"})
        self.assertTrue(self.ask("POST", "/v1/signatures/explain", {"jws": signed["jws"]})["is_good"])
        both = {"jws": signed["jws"], "signature": signed["signature"]}
        self.ask("POST", "/v1/signatures/explain", both, "invalid_request")
        self.assertFalse(self.ask("POST", "/v1/signatures/explain", {"signature": "AAAA"})["is_good"])

    def keys(self) -> None:
        asked = {"name": "ios-app", "kind": "publishable", "environments": ["sandbox"], "expires_in_days": 30}
        named = {"Idempotency-Key": "key-1"}
        made = self.ask("POST", "/v1/keys", asked, 201, named)
        self.assertNotIn("secret", self.ask("POST", "/v1/keys", asked, 201, named))
        self.ask("POST", "/v1/keys", asked, "key_name_taken")
        own = {"Authorization": f"Bearer {made['secret']}"}
        self.ask("GET", "/v1/customers/anna/balances", None, 200, own)
        self.ask("GET", "/v1/orders", None, "scope_missing", own)
        self.ask("POST", f"/v1/keys/{made['key_id']}/rotate", {"overlap_seconds": 0}, 201)
        for key in self.ask("GET", "/v1/keys")["keys"]:
            if "revoked_at" not in key and "expires_at" in key:
                last = key["key_id"]
                break
        self.ask("POST", f"/v1/keys/{last}/revoke")
        self.ask("POST", f"/v1/keys/{last}/revoke", None, "not_found")

    def facades(self) -> None:
        receipt = self.store.receipt("anna")
        asked = {"receipt-data": receipt, "password": KEY}
        self.assertEqual(self.ask("POST", "/verifyReceipt", asked)["status"], 0)
        self.assertEqual(self.ask("POST", "/sandbox/verifyReceipt", asked)["status"], 21_008)
        for path in ("/verifyReceipt", "/sandbox/verifyReceipt"):
            self.assertEqual(self.ask("GET", path)["status"], 21_000)
        self.assertEqual(self.ask("POST", "/verifyReceipt", {**asked, "receipt-data": "1"})["status"], 21_002)
        transaction = {"type": "ios-appstore", "id": BUNDLE_ID, "appStoreReceipt": receipt}
        asked = {"id": BUNDLE_ID, "type": "application", "transaction": transaction}
        for path in ("/validator", "/validator/nobody"):
            self.ask("OPTIONS", path, None, 204)
        self.assertTrue(self.ask("POST", "/validator", asked)["ok"])
        self.assertFalse(self.ask("POST", "/validator", {})["ok"])
        self.ask("POST", "/validator/nobody", asked, "not_found")
        made = self.ask("POST", "/v1/keys", {"name": "plugin", "kind": "publishable"}, 201)
        self.assertTrue(self.ask("POST", f"/validator/{made['secret']}", asked)["ok"])

    def operating(self) -> None:
        self.assertGreater(self.ask("GET", "/v1/app")["last_event"], 0)
        self.ask("GET", "/v1/jobs")
        self.ask("GET", "/v1/jobs/dead?limit=5")
        self.ask("GET", "/v1/jobs/dead?after=1", None, "invalid_query")
        self.assertEqual(self.ask("POST", "/v1/jobs/retry", {"kind": "support.ask"})["retried"], 0)
        self.ask("POST", "/v1/jobs/retry", {"sort": "support.ask"}, "invalid_request")
        self.ask("POST", "/v1/jobs/job_none/retry", None, "not_found")

    def catalogue(self) -> None:
        self.assertEqual(len(self.ask("GET", "/v1/catalogue")["products"]), 2)
        for path in ("/v1/catalogue", "/v1/customers/anna/entitlements"):
            self.ask("GET", path)
            self.ask("GET", path, None, 304, {"If-None-Match": self.fields["ETag"]})

    def log(self) -> None:
        self.shop.wait("delivery.granted")
        self.assertTrue(self.ask("GET", "/v1/events?types=order.placed,delivery.granted&limit=5")["events"])
        sent = self.ask("GET", f"{self.endpoint}/deliveries?limit=5")["deliveries"]
        self.ask("GET", f"{self.endpoint}/deliveries/{sent[-1]['event_id']}")
        self.ask("POST", f"{self.endpoint}/replay", {"dead": True})
        self.ask("POST", f"{self.endpoint}/replay", {"event_id": sent[-1]["event_id"]})
        self.ask("POST", f"{self.endpoint}/replay", {"event_id": "evt_1", "dead": True}, "invalid_request")
        self.ask("POST", f"{self.endpoint}/delete")
        # They are noted beside the work, every ten seconds.
        deadline = time.monotonic() + 30
        while not self.ask("GET", "/v1/certificates")["certificates"]:
            self.assertLess(time.monotonic(), deadline, "no certificate was noted")
            time.sleep(0.2)

    def refusals(self) -> None:
        shown = {"proof": "nonsense", "customer_id": "anna"}
        self.ask("POST", "/v1/purchases", shown, "refused")
        self.ask("POST", "/v1/purchases", {**shown, "order": "o-1"}, "invalid_request")
        self.ask("POST", "/v1/purchases", shown, "unauthorized", {"Authorization": "Bearer nobody"})
        self.ask("POST", "/v1/purchases", shown, "unsupported_media_type", {"Content-Type": "text/plain"})
        self.ask("POST", "/v1/purchases", shown, "invalid_idempotency_key", {"Idempotency-Key": "a b"})
        self.ask("POST", "/v1/purchases", {**shown, "proof": "x" * (5 << 20)}, "body_too_large")
        for query in ("limit=0", "limit=501", "colour=red", "limit=1&limit=2", "customer_id=%zz", "customer_id=%C3"):
            self.ask("GET", f"/v1/orders?{query}", None, "invalid_query")
        self.ask("GET", "/v1/events?types=order.payed", None, "invalid_query")
        self.ask("GET", "/v1/customers/%FF/balances", None, "malformed_path")
        for path in ("orders/none", "transactions/1", "submissions/none", "deliveries/none", "webhooks/none"):
            self.ask("GET", f"/v1/{path}", None, "not_found")


if __name__ == "__main__":
    unittest.main()
