"""Starts `assay serve`, and speaks to its API."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from simulator import ASSAY, BUNDLE_ID, Simulator

KEY = "sk_interop_0123456789abcdef0123456789abcdef"
COINS = {"id": BUNDLE_ID + ".coins.100", "kind": "consumable", "goods": [{"currency": "gems", "amount": 100}]}


class Assay:
    """`assay serve` over a folder, or a database; it may be killed and started again."""

    def __init__(
        self,
        folder: Path,
        store: Simulator,
        products: list[dict] | None = None,
        data: Path | None = None,
        database: str | None = None,
        app: dict | None = None,
        environment: dict[str, str] | None = None,
        through: tuple[str, ...] = (),
    ) -> None:
        self.folder = folder
        self.environment = os.environ | (environment or {})
        Path(folder, "key").write_text(KEY)
        Path(folder, "key").chmod(0o600)
        configuration = {
            "profile": "development",
            "data": str(data or folder / "ledger"),
            "listen": "127.0.0.1:0",
            "apps": [
                {
                    "id": "demo",
                    "bundle_id": BUNDLE_ID,
                    "environments": ["production", "sandbox"],
                    "products": products or [COINS],
                    "accept_test_signed": True,
                    "needs_orders": True,
                    "sandbox": {"everybody_until": "9999-12-31T23:59:59Z"},
                    **(app or {}),
                }
            ],
            "keys": [{"name": "shop", "app": "demo", "secret_file": str(folder / "key")}],
            "trust": {"roots": str(Path(store.folder.name, "roots"))},
            "webhooks": {"allowed_addresses": "127.0.0.0/8,::1/128", "plain_hosts": "localhost"},
        }
        if database:
            configuration["database"] = {"url": database}
        self.configuration = folder / "assay.json"
        self.configuration.write_text(json.dumps(configuration))
        self.configuration.chmod(0o600)
        self.command = [*through, ASSAY, "serve", "--config", str(self.configuration)]
        self.start()

    def start(self) -> None:
        log = open(self.folder / "log", "ab")
        mark = log.tell()
        self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=self.environment)
        log.close()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with open(self.folder / "log", "rb") as written:
                written.seek(mark)
                text = written.read().decode()
            found = re.search(r'"port":(\d+)', text)
            if found:
                self.url = f"http://127.0.0.1:{found.group(1)}"
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.kill()
        raise RuntimeError(f"assay serve did not start: {text}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=20)

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)

    def call(self, method: str, path: str, body: object = None, key: str | None = None) -> tuple[int, dict]:
        fields = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        if key:
            fields["Idempotency-Key"] = key
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=fields)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, json.loads(refusal.read())
