"""Receivers that others wrote, unchanged, believe what Assay signs, and Assay believes what they sign."""

import base64
import os
import random
import subprocess
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

import standardwebhooks
import svix.webhooks
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ASSAY = os.environ["ASSAY"]
RECEIVERS = (standardwebhooks.Webhook, svix.webhooks.Webhook)
# svix raises the other's error.
REFUSAL = standardwebhooks.WebhookVerificationError


def assay(*words: str, secrets: list[str], body: bytes, fields: dict[str, str] | None = None) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--secret-file", str(Path(folder, "secrets"))]
        Path(folder, "secrets").write_text("\n".join(secrets))
        if fields is not None:
            Path(folder, "fields").write_text("".join(f"{name}: {value}\n" for name, value in fields.items()))
            flags += ["--fields", str(Path(folder, "fields"))]
        done = subprocess.run([ASSAY, "webhook", *words, *flags], input=body, capture_output=True, timeout=20)
        return done.returncode, done.stdout.decode()


def sign(body: bytes, *secrets: str, at: datetime | None = None, name: str = "evt_1") -> dict[str, str]:
    flags = ["--at", at.strftime("%Y-%m-%dT%H:%M:%SZ")] if at else []
    code, text = assay("sign", "--id", name, *flags, secrets=list(secrets), body=body)
    assert code == 0, text
    return dict(line.split(": ", 1) for line in text.splitlines())


def secret(random_bytes: bytes) -> str:
    return "whsec_" + base64.b64encode(random_bytes).decode()


class WebhookTest(unittest.TestCase):
    def setUp(self) -> None:
        self.random = random.Random(7)
        self.secret = secret(self.random.randbytes(32))
        self.body = '{"type":"order.paid","data":{"note":"Größe ✓"}}'.encode()

    def test_they_believe_what_we_sign(self) -> None:
        for length in (24, 32, 33, 64):
            key = secret(self.random.randbytes(length))
            fields = sign(self.body, key)
            for receiver in RECEIVERS:
                with self.subTest(receiver=receiver.__module__, length=length):
                    receiver(key).verify(self.body, fields)

    def test_they_refuse_what_was_altered(self) -> None:
        fields = sign(self.body, self.secret)
        altered = {
            "body": (self.body.replace(b"paid", b"made"), fields),
            "id": (self.body, fields | {"webhook-id": "evt_2"}),
            "timestamp": (self.body, fields | {"webhook-timestamp": str(int(fields["webhook-timestamp"]) + 1)}),
            "signature": (self.body, fields | {"webhook-signature": "v1," + base64.b64encode(bytes(32)).decode()}),
            "old": (self.body, sign(self.body, self.secret, at=datetime.now(timezone.utc) - timedelta(minutes=6))),
            "new": (self.body, sign(self.body, self.secret, at=datetime.now(timezone.utc) + timedelta(minutes=6))),
        }
        for receiver in RECEIVERS:
            for what, (body, wrong) in altered.items():
                with self.subTest(receiver=receiver.__module__, what=what), self.assertRaises(REFUSAL):
                    receiver(self.secret).verify(body, wrong)
            with self.assertRaises(REFUSAL):
                receiver(secret(bytes(32))).verify(self.body, fields)

    def test_a_rotated_secret_and_a_key_beside_it_disturb_nobody(self) -> None:
        old = secret(self.random.randbytes(32))
        seed = self.random.randbytes(32)
        fields = sign(self.body, self.secret, old, "whsk_" + base64.b64encode(seed).decode())
        for receiver in RECEIVERS:
            for known in (self.secret, old):
                receiver(known).verify(self.body, fields)
        scheme, signature = fields["webhook-signature"].split(" ")[-1].split(",")
        self.assertEqual(scheme, "v1a")
        signed = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + self.body
        # Raises unless it fits.
        Ed25519PrivateKey.from_private_bytes(seed).public_key().verify(base64.b64decode(signature), signed)

    def test_we_believe_what_they_sign(self) -> None:
        now = datetime.now(timezone.utc)
        for receiver in RECEIVERS:
            with self.subTest(receiver=receiver.__module__):
                signature = receiver(self.secret).sign("msg_1", now, self.body.decode())
                fields = {
                    "Webhook-Id": "msg_1",
                    "Webhook-Timestamp": str(int(now.timestamp())),
                    "Webhook-Signature": signature,
                }
                code, text = assay("verify", secrets=[self.secret], body=self.body, fields=fields)
                self.assertEqual((code, text), (0, "genuine: msg_1\n"))
                code, text = assay("verify", secrets=[self.secret], body=self.body + b" ", fields=fields)
                self.assertEqual((code, text), (1, "refused: no_matching_signature\n"))

    def test_we_believe_a_key_of_theirs(self) -> None:
        key = Ed25519PrivateKey.from_private_bytes(self.random.randbytes(32))
        stamp = str(int(datetime.now(timezone.utc).timestamp()))
        signature = key.sign(f"msg_1.{stamp}.".encode() + self.body)
        fields = {
            "webhook-id": "msg_1",
            "webhook-timestamp": stamp,
            "webhook-signature": "v1a," + base64.b64encode(signature).decode(),
        }
        public = "whpk_" + base64.b64encode(key.public_key().public_bytes_raw()).decode()
        self.assertEqual(assay("verify", secrets=[public], body=self.body, fields=fields)[0], 0)
        other = "whpk_" + base64.b64encode(Ed25519PrivateKey.generate().public_key().public_bytes_raw()).decode()
        self.assertEqual(assay("verify", secrets=[other], body=self.body, fields=fields)[0], 1)

    def test_what_the_documentation_shows_does(self) -> None:
        page = Path(__file__).parents[2].joinpath("docs", "webhooks.md").read_text()
        names: dict = {}
        exec(page.split("```python\n")[1].split("```")[0], names)
        is_genuine = names["is_genuine"]
        old = secret(self.random.randbytes(32))
        fields = sign(self.body, self.secret, old)
        self.assertTrue(is_genuine(self.body, fields, [self.secret]))
        self.assertTrue(is_genuine(self.body, fields, [secret(bytes(32)), old]))
        self.assertFalse(is_genuine(self.body, fields, [secret(bytes(32))]))
        self.assertFalse(is_genuine(self.body + b" ", fields, [self.secret]))
        past = sign(self.body, self.secret, at=datetime.now(timezone.utc) - timedelta(minutes=6))
        self.assertFalse(is_genuine(self.body, past, [self.secret]))

    def test_any_body(self) -> None:
        for turn in range(20):
            with self.subTest(turn=turn):
                text = "".join(chr(self.random.choice((0x20, 0x2E, 0x0A, 0xE9, 0x1F600))) for _ in range(turn * 50))
                fields = sign(text.encode(), self.secret)
                for receiver in RECEIVERS:
                    signed = receiver(self.secret)
                    moment = datetime.fromtimestamp(int(fields["webhook-timestamp"]), timezone.utc)
                    self.assertEqual(signed.sign("evt_1", moment, text), fields["webhook-signature"])


if __name__ == "__main__":
    unittest.main()
