"""What is signed wrongly in one way is refused by others for the reason that fits.

Both tables were written down from what the two libraries answered; where one of them accepts a flaw it is the more
lenient reading, and Assay's own verifier refuses it.
"""

import unittest

from apple_purchase_receipt_verifier import Config, Verifier
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

from simulator import APPLE_ID, BUNDLE_ID, SimulatorTest

ACCEPTED = "accepted"

# The flaw of a signed transaction: what Apple's library says, and what apple-purchase-receipt-verifier says.
SIGNED_TRANSACTIONS = {
    "leafWithoutMarker": ("VERIFICATION_FAILURE", "INVALID_CERTIFICATE_PURPOSE"),
    "leafExpired": ("VERIFICATION_FAILURE", "INVALID_CERTIFICATE"),
    "leafNotYetValid": ("VERIFICATION_FAILURE", "INVALID_CERTIFICATE"),
    "leafMayNotSign": (ACCEPTED, ACCEPTED),
    "leafWithUnknownCriticalExtension": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "leafNamesOtherIssuer": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "leafSignedByOtherKey": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "leafSignedOverSHA1": (ACCEPTED, ACCEPTED),
    "leafOnOtherCurve": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "leafOfOtherKind": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "contentSignedByOtherKey": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "intermediateWithoutMarker": ("VERIFICATION_FAILURE", "INVALID_CERTIFICATE_PURPOSE"),
    "intermediateExpired": ("VERIFICATION_FAILURE", "INVALID_CERTIFICATE"),
    "intermediateNotYetValid": ("VERIFICATION_FAILURE", "INVALID_CERTIFICATE"),
    "intermediateNotCA": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "intermediateMayNotIssue": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "intermediateWithUnknownCriticalExtension": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "intermediateNamesOtherIssuer": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "intermediateSignedByOtherKey": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "leafUsedAsIssuer": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "pathTooLong": ("INVALID_CHAIN_LENGTH", "MALFORMED"),
    "foreignRoot": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "foreignRootSent": (ACCEPTED, ACCEPTED),
    "foreignChainUnderRightRoot": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "foreignLeafOnRightChain": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "reordered": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "reversed": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "noCertificates": ("VERIFICATION_FAILURE", "MALFORMED"),
    "onlyLeaf": ("INVALID_CHAIN_LENGTH", "MALFORMED"),
    "withoutRoot": ("INVALID_CHAIN_LENGTH", "MALFORMED"),
    "fourCertificates": ("INVALID_CHAIN_LENGTH", "MALFORMED"),
    "leafTwice": ("VERIFICATION_FAILURE", "UNTRUSTED_CHAIN"),
    "algorithmNone": ("VERIFICATION_FAILURE", "MALFORMED"),
    "algorithmNoneButSigned": ("VERIFICATION_FAILURE", "MALFORMED"),
    "algorithmHS256": ("VERIFICATION_FAILURE", "MALFORMED"),
    "algorithmES384": ("VERIFICATION_FAILURE", "MALFORMED"),
    "algorithmInLowerCase": ("VERIFICATION_FAILURE", "MALFORMED"),
    "algorithmMissing": ("VERIFICATION_FAILURE", "MALFORMED"),
    "algorithmNotText": ("VERIFICATION_FAILURE", "MALFORMED"),
    "criticalHeader": ("VERIFICATION_FAILURE", ACCEPTED),
    "ownKeyInHeader": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "certificatesMissing": ("VERIFICATION_FAILURE", "MALFORMED"),
    "certificatesEmpty": ("VERIFICATION_FAILURE", "MALFORMED"),
    "certificatesNotList": ("INVALID_CHAIN_LENGTH", "MALFORMED"),
    "certificatesNotText": ("INVALID_CERTIFICATE", "MALFORMED"),
    "certificatesInURLAlphabet": ("INVALID_CERTIFICATE", "INVALID_CERTIFICATE"),
    "certificateTruncated": ("INVALID_CERTIFICATE", "INVALID_CERTIFICATE"),
    "headerNotJSON": ("VERIFICATION_FAILURE", "MALFORMED"),
    "headerKeyTwice": (ACCEPTED, ACCEPTED),
    "payloadNotJSON": ("VERIFICATION_FAILURE", "UNREADABLE_PAYLOAD"),
    "payloadNotObject": ("VERIFICATION_FAILURE", "UNREADABLE_PAYLOAD"),
    "payloadEmpty": ("VERIFICATION_FAILURE", "UNREADABLE_PAYLOAD"),
    "payloadChanged": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "headerChanged": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "signatureEmpty": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "signatureOfZeros": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "signatureAsDER": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "signatureShortened": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "signatureLengthened": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "signatureBitFlipped": ("VERIFICATION_FAILURE", "INVALID_SIGNATURE"),
    "twoSegments": ("VERIFICATION_FAILURE", "MALFORMED"),
    "fourSegments": ("VERIFICATION_FAILURE", "MALFORMED"),
    "padded": (ACCEPTED, "MALFORMED"),
    "blankAtEnd": ("VERIFICATION_FAILURE", "MALFORMED"),
    "xcode": ("INVALID_CHAIN_LENGTH", "MALFORMED"),
}

# The flaw of an app receipt: what apple-purchase-receipt-verifier says.
APP_RECEIPTS = {
    "leafWithoutMarker": "INVALID_CERTIFICATE_PURPOSE",
    "leafExpired": "INVALID_CERTIFICATE",
    "leafNotYetValid": "INVALID_CERTIFICATE",
    "leafMayNotSign": ACCEPTED,
    "leafWithUnknownCriticalExtension": "UNTRUSTED_CHAIN",
    "leafNamesOtherIssuer": "UNTRUSTED_CHAIN",
    "leafSignedByOtherKey": "UNTRUSTED_CHAIN",
    "leafSignedOverSHA1": ACCEPTED,
    "leafOnOtherCurve": ACCEPTED,
    "leafOfOtherKind": ACCEPTED,
    "contentSignedByOtherKey": "INVALID_SIGNATURE",
    "intermediateWithoutMarker": "INVALID_CERTIFICATE_PURPOSE",
    "intermediateExpired": "INVALID_CERTIFICATE",
    "intermediateNotYetValid": "INVALID_CERTIFICATE",
    "intermediateNotCA": "UNTRUSTED_CHAIN",
    "intermediateMayNotIssue": "UNTRUSTED_CHAIN",
    "intermediateWithUnknownCriticalExtension": "UNTRUSTED_CHAIN",
    "intermediateNamesOtherIssuer": "UNTRUSTED_CHAIN",
    "intermediateSignedByOtherKey": "UNTRUSTED_CHAIN",
    "leafUsedAsIssuer": "UNTRUSTED_CHAIN",
    "pathTooLong": "UNTRUSTED_CHAIN",
    "foreignRoot": "UNTRUSTED_CHAIN",
    "foreignRootSent": ACCEPTED,
    "foreignChainUnderRightRoot": "UNTRUSTED_CHAIN",
    "foreignLeafOnRightChain": "UNTRUSTED_CHAIN",
    "reordered": ACCEPTED,
    "reversed": ACCEPTED,
    "noCertificates": "MALFORMED",
    "onlyLeaf": "UNTRUSTED_CHAIN",
    "withoutRoot": ACCEPTED,
    "fourCertificates": ACCEPTED,
    "leafTwice": "UNTRUSTED_CHAIN",
    "signerNotIncluded": "MALFORMED",
    "twoSigners": ACCEPTED,
    "noSigners": "MALFORMED",
    "signedAttributes": ACCEPTED,
    "signedAttributesOfOtherContent": "INVALID_SIGNATURE",
    "signerNamedByKey": ACCEPTED,
    "signerSerialWrong": "MALFORMED",
    "signerIssuerWrong": "MALFORMED",
    "contentChanged": "INVALID_SIGNATURE",
    "contentMissing": "MALFORMED",
    "contentTypeWrong": ACCEPTED,
    "digestMismatch": "INVALID_SIGNATURE",
    "signatureBitFlipped": "INVALID_SIGNATURE",
    "signatureShortened": "INVALID_SIGNATURE",
    "signatureEmpty": "INVALID_SIGNATURE",
    "truncated": "MALFORMED",
    "trailingBytes": "MALFORMED",
}


class WrongVariantsTest(SimulatorTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.store.customer("mallory", environment="sandbox")
        cls.transaction = cls.store.buy("mallory", "sword")["transaction_id"]
        cls.apple = SignedDataVerifier(cls.store.roots, False, Environment.SANDBOX, BUNDLE_ID, APPLE_ID)
        cls.other = Verifier(Config(roots=cls.store.roots))

    def test_the_tables_are_whole(self) -> None:
        flaws = self.store.get("/flaws")
        self.assertEqual(set(SIGNED_TRANSACTIONS), {*flaws["chain"], *flaws["jws"], "xcode"})
        self.assertEqual(set(APP_RECEIPTS), {*flaws["chain"], *flaws["receipt"]})

    def test_signed_transactions(self) -> None:
        for flaw, expected in SIGNED_TRANSACTIONS.items():
            with self.subTest(flaw):
                answer = self.store.get(f"/transactions/{self.transaction}/flawed/{flaw}")
                signed = answer["signed_transaction_info"]
                self.assertEqual((self.asked_apple(signed), self.answer(self.other.verify_signed_data(signed))), expected)

    def test_app_receipts(self) -> None:
        for flaw, expected in APP_RECEIPTS.items():
            with self.subTest(flaw):
                receipt = self.store.get(f"/customers/mallory/receipt/flawed/{flaw}")["receipt_data"]
                self.assertEqual(self.answer(self.other.verify_receipt(receipt)), expected)

    def asked_apple(self, signed: str) -> str:
        try:
            self.apple.verify_and_decode_signed_transaction(signed)
        except VerificationException as refusal:
            return refusal.status.name
        return ACCEPTED

    def answer(self, result) -> str:
        return result.failure.reason.name if result.failure else ACCEPTED


if __name__ == "__main__":
    unittest.main()
