"""schemathesis, unchanged, makes requests up from the API's description, good and bad ones, and finds nothing in the answers
that the description does not say."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from server import KEY, Assay
from simulator import Simulator

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
SECONDS = 50


class SchemathesisTest(unittest.TestCase):
    def test_it_finds_nothing(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        store = Simulator()
        self.addCleanup(store.close)
        # The products of the description's examples.
        coins = {"id": "com.example.coins", "kind": "consumable", "goods": [{"currency": "gems", "amount": 100}]}
        pro = {
            "id": "com.example.pro.monthly",
            "kind": "auto_renewable_subscription",
            "goods": [{"entitlement": "pro"}],
        }
        key = Path(folder.name, "merchant-key.p8")
        key.write_bytes(store.key)
        key.chmod(0o600)
        merchant = {"issuer_id": store.issuer_id, "key_id": store.key_id, "private_key_file": str(key)}
        merchant["hosts"] = store.hosts
        assay = Assay(Path(folder.name), store, products=[coins, pro], app={"app_store": merchant})
        self.addCleanup(assay.close)
        # Something to come upon.
        for number in range(3):
            order = {"order_id": f"order-{number + 7}", "customer_id": "customer-1", "product_id": coins["id"]}
            assay.call("POST", "/v1/orders", order)
        assay.call("POST", "/v1/webhooks", {"url": "https://shop.example/hooks", "is_enabled": False})
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION), "run"]
        command += [f"{assay.url}/openapi.json", "--header", f"Authorization: Bearer {KEY}"]
        command += ["--max-time", str(SECONDS), "--seed", "1", "--continue-on-failure", "--no-color"]
        run = subprocess.run(command, cwd=folder.name, capture_output=True, text=True, timeout=SECONDS * 4)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        print(run.stdout.rpartition("SUMMARY")[2])


if __name__ == "__main__":
    unittest.main()
