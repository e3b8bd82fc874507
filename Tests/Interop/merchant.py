"""Merchant signatures by Apple's own library, and a check of ours: what AppleLibraryTests runs.

merchant.py make KEY.pem KEY_ID ISSUER BUNDLE NOW_MS   writes JSON: what the library signs
merchant.py check KEY.pem OURS.json                    ends with 0 if what we signed is good
"""

import base64
import json
import sys
import uuid

import jwt
from appstoreserverlibrary.jws_signature_creator import (
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

PRODUCT, OFFER, ACCOUNT = "com.example.demo.pro.monthly", "THREE-MONTHS-HALF", "1D0C9F7E-2A3B-4C5D-8E6F-A0B1C2D3E4F5"


def make(key: bytes, key_id: str, issuer: str, bundle: str, now: int) -> dict:
    nonce = uuid.uuid4()
    old = PromotionalOfferSignatureCreator(key, key_id, bundle)
    offer = PromotionalOfferV2SignatureCreator(key, key_id, issuer, bundle)
    first = IntroductoryOfferEligibilitySignatureCreator(key, key_id, issuer, bundle)
    return {
        "nonce": str(nonce),
        "signature": old.create_signature(PRODUCT, OFFER, ACCOUNT, nonce, now),
        "without_account": old.create_signature(PRODUCT, OFFER, "", nonce, now),
        "offer": offer.create_signature(PRODUCT, OFFER, "700000000000001"),
        "offer_without_transaction": offer.create_signature(PRODUCT, OFFER, None),
        "introductory": first.create_signature(PRODUCT, True, "700000000000001"),
    }


def check(key: bytes, ours: dict) -> None:
    public = load_pem_private_key(key, password=None).public_key()
    for token, audience in ours["tokens"]:
        claims = jwt.decode(token, public, algorithms=["ES256"], audience=audience, options={"verify_iat": False})
        assert claims["bid"] == ours["bundle"] and claims["iss"] == ours["issuer"], claims
        assert jwt.get_unverified_header(token) == {"alg": "ES256", "kid": ours["key_id"], "typ": "JWT"}
    fields = [ours["bundle"], ours["key_id"], PRODUCT, OFFER, ACCOUNT.lower(), ours["nonce"], str(ours["timestamp"])]
    public.verify(base64.b64decode(ours["signature"]), "\u2063".join(fields).encode(), ECDSA(SHA256()))


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        pem = file.read()
    if sys.argv[1] == "make":
        print(json.dumps(make(pem, *sys.argv[3:6], int(sys.argv[6]))))
    else:
        with open(sys.argv[3], encoding="utf-8") as file:
            check(pem, json.load(file))
