"""A shop that writes down every webhook, and what it answered, before it answers."""

import hashlib
import random
import time
from datetime import datetime, timezone
from pathlib import Path

import standardwebhooks

from record import Record
from shop import Shop


class Sink(Shop):
    """One endpoint. While it is moody it answers 500 or 503, or nothing at all until the sender has gone."""

    # Longer than a sender waits for an answer.
    HANGS_FOR = 21

    def __init__(self, path: Path, seed: int, hangs: bool) -> None:
        self.record = Record(path)
        self.random = random.Random(seed)
        self.hangs = hangs
        self.is_moody = False
        self.is_away = False
        super().__init__()
        self.server.handle_error = lambda *_: None

    def take(self, body: bytes, fields: dict[str, str]) -> int:
        status = self.mood()
        try:
            message = standardwebhooks.Webhook(self.secret).verify(body, fields)
        except standardwebhooks.WebhookVerificationError:
            # Signed by a server whose clock is wrong, or not by ours at all; the checker tells these apart.
            message, status = None, 401
        if status == 0:
            time.sleep(self.HANGS_FOR)
        self.record.add(
            {
                "id": fields.get("webhook-id"),
                "fields": {name: value for name, value in fields.items() if name.startswith("webhook-")},
                "digest": hashlib.sha256(body).hexdigest(),
                "is_genuine": self.is_genuine(body, fields),
                "status": status,
                "message": message,
            }
        )
        return status or 504

    def is_genuine(self, body: bytes, fields: dict[str, str]) -> bool:
        """Whatever the time is."""
        try:
            moment = datetime.fromtimestamp(int(fields["webhook-timestamp"]), timezone.utc)
            expected = standardwebhooks.Webhook(self.secret).sign(fields["webhook-id"], moment, body.decode())
        except (KeyError, ValueError):
            return False
        return expected in fields.get("webhook-signature", "").split(" ")

    def mood(self) -> int:
        with self.lock:
            draw = self.random.random()
        if self.is_away:
            return 503
        if not self.is_moody:
            return 200
        if draw < 0.01 and self.hangs:
            return 0
        if draw < 0.06:
            return 500
        return 503 if draw < 0.08 else 200

    def close(self) -> None:
        super().close()
        self.record.close()
