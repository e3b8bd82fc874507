"""Apple's own server library for Python, unchanged, against the simulated store."""

import unittest
import warnings
from uuid import UUID

from appstoreserverlibrary.api_client import APIError, APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion
from appstoreserverlibrary.models.LibraryUtility import _get_cattrs_converter
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.TransactionHistoryRequest import TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException, VerificationStatus

from simulator import APPLE_ID, BUNDLE_ID, Inbox, Simulator, SimulatorTest, milliseconds

NEVER = "999999999999999"


def structure(members: dict, kind: type):
    """A model of the library's out of plain values."""
    return _get_cattrs_converter(kind).structure(members, kind)


def client(store: Simulator, environment: Environment) -> AppStoreServerAPIClient:
    made = AppStoreServerAPIClient(store.key, store.key_id, store.issuer_id, BUNDLE_ID, environment)
    made._base_url = store.url + ("/production" if environment == Environment.PRODUCTION else "/sandbox")
    return made


def verifier(store: Simulator, environment: Environment) -> SignedDataVerifier:
    return SignedDataVerifier(store.roots, False, environment, BUNDLE_ID, APPLE_ID)


class ClientTest(SimulatorTest):
    """Every endpoint for which the library has a method."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.inbox = Inbox()
        cls.addClassCleanup(cls.inbox.close)
        cls.store.call("PUT", f"/apps/{BUNDLE_ID}/notifications", {"url": cls.inbox.url})
        cls.apple = client(cls.store, Environment.PRODUCTION)
        cls.sandbox = client(cls.store, Environment.SANDBOX)
        cls.verifier = verifier(cls.store, Environment.PRODUCTION)

    def refused(self, error: APIError, body) -> None:
        with self.assertRaises(APIException) as refusal:
            body()
        self.assertEqual(refusal.exception.api_error, error)

    def test_transaction_info(self) -> None:
        self.store.customer("tina")
        sold = self.store.buy("tina", "coins.100", quantity=2, account_token="7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11")
        answer = self.apple.get_transaction_info(sold["transaction_id"])
        fact = self.verifier.verify_and_decode_signed_transaction(answer.signedTransactionInfo)
        self.assertEqual(fact.transactionId, sold["transaction_id"])
        self.assertEqual(fact.quantity, 2)
        self.assertEqual(fact.price, 1980)
        self.assertEqual(fact.appAccountToken, "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11")
        self.assertEqual(fact.purchaseDate, milliseconds(sold["purchased_at"]))
        self.refused(APIError.TRANSACTION_ID_NOT_FOUND, lambda: self.apple.get_transaction_info(NEVER))
        self.refused(APIError.INVALID_TRANSACTION_ID, lambda: self.apple.get_transaction_info("abc"))
        self.refused(
            APIError.TRANSACTION_ID_NOT_FOUND, lambda: self.sandbox.get_transaction_info(sold["transaction_id"])
        )

    def test_history_in_pages(self) -> None:
        self.store.customer("hanna")
        bought = [self.store.buy("hanna", "coins.100")["transaction_id"] for _ in range(45)]
        found: list[str] = []
        revision, pages = None, 0
        while True:
            page = self.apple.get_transaction_history(
                bought[0], revision, TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
            )
            pages += 1
            for signed in page.signedTransactions:
                found.append(self.verifier.verify_and_decode_signed_transaction(signed).transactionId)
            revision = page.revision
            if not page.hasMore:
                break
        self.assertEqual(found, bought)
        self.assertEqual(pages, 3)

    def test_statuses(self) -> None:
        self.store.customer("stella")
        sold = self.store.buy("stella", "pro.yearly")
        answer = self.apple.get_all_subscription_statuses(sold["transaction_id"])
        [group] = answer.data
        [last] = group.lastTransactions
        self.assertEqual(last.status, Status.ACTIVE)
        renewal = self.verifier.verify_and_decode_renewal_info(last.signedRenewalInfo)
        self.assertEqual(renewal.renewalPrice, 39_990)
        self.assertEqual(renewal.renewalDate, milliseconds(sold["expires_at"]))
        self.store.act("decide_refund", transaction=sold["transaction_id"], decision="full")
        answer = self.apple.get_all_subscription_statuses(sold["transaction_id"], [Status.REVOKED])
        self.assertEqual(answer.data[0].lastTransactions[0].status, Status.REVOKED)
        answer = self.apple.get_all_subscription_statuses(sold["transaction_id"], [Status.ACTIVE])
        self.assertEqual([line for group in answer.data for line in group.lastTransactions], [])

    def test_refund_history(self) -> None:
        self.store.customer("rita")
        sold = self.store.buy("rita", "sword")
        self.assertEqual(self.apple.get_refund_history(sold["transaction_id"], None).signedTransactions, [])
        self.store.act("decide_refund", transaction=sold["transaction_id"], decision="prorated", percentage=25_000)
        [signed] = self.apple.get_refund_history(sold["transaction_id"], None).signedTransactions
        fact = self.verifier.verify_and_decode_signed_transaction(signed)
        self.assertIsNotNone(fact.revocationDate)

    def test_order_lookup(self) -> None:
        self.store.customer("olga")
        sold = self.store.buy("olga", "coins.1000")
        answer = self.apple.look_up_order_id(sold["order_id"])
        self.assertEqual(answer.status, OrderLookupStatus.VALID)
        fact = self.verifier.verify_and_decode_signed_transaction(answer.signedTransactions[0])
        self.assertEqual(fact.transactionId, sold["transaction_id"])
        self.assertEqual(self.apple.look_up_order_id("MNEVER12345").status, OrderLookupStatus.INVALID)

    def test_app_transaction(self) -> None:
        self.store.customer("ada")
        sold = self.store.buy("ada", "sword")
        answer = self.apple.get_app_transaction_info(sold["transaction_id"])
        fact = self.verifier.verify_and_decode_app_transaction(answer.signedAppTransactionInfo)
        self.assertEqual(fact.bundleId, BUNDLE_ID)
        self.assertEqual(fact.appTransactionId, sold["app_transaction_id"])

    def test_account_token(self) -> None:
        self.store.customer("tonia")
        sold = self.store.buy("tonia", "pro.yearly")
        token = UUID("7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11")
        request = UpdateAppAccountTokenRequest(appAccountToken=str(token))
        self.apple.set_app_account_token(sold["transaction_id"], request)
        self.assertEqual(self.store.transactions("tonia")[-1]["account_token"], str(token))

    def test_consumption(self) -> None:
        self.store.customer("cora")
        sold = self.store.buy("cora", "coins.100")
        self.apple.send_consumption_information(
            sold["transaction_id"],
            ConsumptionRequest(
                customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED
            ),
        )
        with self.assertRaises(APIException) as refusal:
            self.apple.send_consumption_information(
                sold["transaction_id"],
                ConsumptionRequest(
                    customerConsented=False, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED
                ),
            )
        self.assertEqual(refusal.exception.raw_api_error, 4_000_035)

    def test_consumption_of_version_1(self) -> None:
        self.store.customer("vivian")
        sold = self.store.buy("vivian", "coins.100")
        told = dict(
            customerConsented=True, consumptionStatus=1, platform=1, sampleContentProvided=True, deliveryStatus=0,
            appAccountToken="", accountTenure=2, playTime=3, lifetimeDollarsRefunded=1, lifetimeDollarsPurchased=2,
            userStatus=1, refundPreference=3,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.apple.send_consumption_data(
                sold["transaction_id"], structure(told, ConsumptionRequestV1)
            )
            with self.assertRaises(APIException) as refusal:
                self.apple.send_consumption_data(
                    sold["transaction_id"], structure({**told, "customerConsented": False}, ConsumptionRequestV1)
                )
        self.assertEqual(refusal.exception.raw_api_error, 4_000_035)

    def test_extensions(self) -> None:
        self.store.customer("emma", storefront="DEU")
        sold = self.store.buy("emma", "pro.yearly")
        request = ExtendRenewalDateRequest(
            extendByDays=30, extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION, requestIdentifier="r-1"
        )
        answer = self.apple.extend_subscription_renewal_date(sold["transaction_id"], request)
        self.assertTrue(answer.success)
        self.assertEqual(answer.effectiveDate, milliseconds(sold["expires_at"]) + 30 * 86_400_000)
        mass = MassExtendRenewalDateRequest(
            extendByDays=5,
            extendReasonCode=ExtendReasonCode.OTHER,
            requestIdentifier="fdf964a4-233b-486c-aac1-97d8d52688ac",
            storefrontCountryCodes=["DEU"],
            productId=f"{BUNDLE_ID}.pro.yearly",
        )
        asked = self.apple.extend_renewal_date_for_all_active_subscribers(mass)
        self.assertEqual(asked.requestIdentifier, mass.requestIdentifier)
        before = self.apple.get_status_of_subscription_renewal_date_extensions(mass.requestIdentifier, mass.productId)
        self.assertFalse(before.complete)
        self.store.advance("P1D")
        after = self.apple.get_status_of_subscription_renewal_date_extensions(mass.requestIdentifier, mass.productId)
        self.assertTrue(after.complete)
        self.assertGreaterEqual(after.succeededCount, 1)

    def test_notifications(self) -> None:
        seen = len(self.inbox.bodies)
        token = self.apple.request_test_notification().testNotificationToken
        body = self.inbox.wait(seen + 1)[-1]
        notice = self.verifier.verify_and_decode_notification(body["signedPayload"])
        self.assertEqual(notice.rawNotificationType, "TEST")
        status = self.apple.get_test_notification_status(token)
        self.assertEqual(status.sendAttempts[0].sendAttemptResult, SendAttemptResult.SUCCESS)
        self.assertEqual(status.signedPayload, body["signedPayload"])
        now = milliseconds(self.store.now())
        # The store dates what happens within one moment of its clock a millisecond apart.
        request = NotificationHistoryRequest(startDate=now - 10 * 86_400_000, endDate=now + 1_000)
        history = self.apple.get_notification_history(None, request)
        texts = [item.signedPayload for item in history.notificationHistory]
        while history.hasMore:
            history = self.apple.get_notification_history(history.paginationToken, request)
            texts += [item.signedPayload for item in history.notificationHistory]
        self.assertIn(body["signedPayload"], texts)

    def test_finish(self) -> None:
        self.store.customer("fiona")
        sold = self.store.buy("fiona", "coins.100")
        self.apple.finish_transaction(sold["transaction_id"])
        self.assertTrue(self.store.transactions("fiona")[-1]["finished"])

    def test_what_is_not_simulated_says_so(self) -> None:
        for call in (self.apple.get_image_list, self.apple.get_message_list):
            with self.assertRaises(APIException):
                call()

    def test_strangers_are_kept_out(self) -> None:
        stranger = AppStoreServerAPIClient(
            self.store.key, "AAAAAAAAAA", self.store.issuer_id, BUNDLE_ID, Environment.PRODUCTION
        )
        stranger._base_url = self.apple._base_url
        with self.assertRaises(APIException) as refusal:
            stranger.get_transaction_info("1")
        self.assertEqual(refusal.exception.http_status_code, 401)
        self.assertIsNone(refusal.exception.raw_api_error)


class VerifierTest(SimulatorTest):
    """Everything that the store signs, and everything that it signs wrongly."""

    def test_all_that_happens_in_two_years(self) -> None:
        inbox = Inbox()
        self.addCleanup(inbox.close)
        self.store.call("PUT", f"/apps/{BUNDLE_ID}/notifications", {"url": inbox.url})
        for number in range(4):
            environment = "production" if number % 2 == 0 else "sandbox"
            self.store.customer(f"customer-{number}", environment=environment)
            self.store.buy(f"customer-{number}", "pro.monthly")
            self.store.buy(f"customer-{number}", "coins.100")
            self.store.buy(f"customer-{number}", "sword")
            self.store.advance("P20D")
            self.store.act("set_payment", customer=f"customer-{number}", works=False)
            self.store.advance("P20D")
            self.store.act("set_payment", customer=f"customer-{number}", works=True)
            self.store.act("rescind_consent", customer=f"customer-{number}")
        self.store.advance("P2Y")
        notices = self.store.get("/notices")["notices"]
        bodies = inbox.wait(len(notices))
        self.assertEqual(len(bodies), len(notices))
        told = {notice["uuid"]: notice for notice in notices}
        of = {name: verifier(self.store, env) for name, env in
              [("production", Environment.PRODUCTION), ("sandbox", Environment.SANDBOX)]}
        for body in bodies:
            environment = "production"
            try:
                notice = of[environment].verify_and_decode_notification(body["signedPayload"])
            except VerificationException as refusal:
                # A sandbox notification names another environment, and no number of the app.
                self.assertIn(
                    refusal.status, (VerificationStatus.INVALID_ENVIRONMENT, VerificationStatus.INVALID_APP_IDENTIFIER)
                )
                environment = "sandbox"
                notice = of[environment].verify_and_decode_notification(body["signedPayload"])
            expected = told.pop(notice.notificationUUID)
            self.assertEqual(environment, expected["environment"])
            self.assertEqual(notice.rawNotificationType, expected["type"])
            self.assertEqual(notice.rawSubtype, expected.get("subtype"))
            if notice.data and notice.data.signedTransactionInfo:
                fact = of[environment].verify_and_decode_signed_transaction(notice.data.signedTransactionInfo)
                self.assertEqual(fact.transactionId, expected["transaction_id"])
            if notice.data and notice.data.signedRenewalInfo:
                of[environment].verify_and_decode_renewal_info(notice.data.signedRenewalInfo)
        self.assertEqual(told, {})

    def test_receipts_name_a_transaction(self) -> None:
        self.store.customer("nora")
        sold = self.store.buy("nora", "sword")["transaction_id"]
        utility = ReceiptUtility()
        for digest in ("sha256", "sha1"):
            self.assertEqual(utility.extract_transaction_id_from_app_receipt(self.store.receipt("nora", digest)), sold)
        for version in (2, 3, 4):
            receipt = self.store.get(f"/transactions/{sold}/receipt?version={version}")["receipt_data"]
            self.assertEqual(utility.extract_transaction_id_from_transaction_receipt(receipt), sold)

    def test_foreign_expectations(self) -> None:
        self.store.customer("vera", environment="sandbox")
        sold = self.store.buy("vera", "sword")["transaction_id"]
        signed = self.store.get(f"/transactions/{sold}")["signed_transaction_info"]
        cases = [
            (SignedDataVerifier(self.store.roots, False, Environment.SANDBOX, "com.other"), "INVALID_APP_IDENTIFIER"),
            (verifier(self.store, Environment.PRODUCTION), "INVALID_ENVIRONMENT"),
        ]
        for strict, status in cases:
            with self.assertRaises(VerificationException) as refusal:
                strict.verify_and_decode_signed_transaction(signed)
            self.assertEqual(refusal.exception.status.name, status)


if __name__ == "__main__":
    unittest.main()
