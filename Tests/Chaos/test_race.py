"""The same purchases, shown by everybody at once to two servers that share a database."""

import json
import os
import subprocess
import tempfile
import threading
import unittest
from collections import Counter
from pathlib import Path

from clients import TERMS, Caller
from record import Record
from server import Assay
from simulator import BUNDLE_ID, Simulator

CLIENTS, PURCHASES = 64, 50
CUSTOMER, PRODUCT = "anna", BUNDLE_ID + ".coins.100"


class RaceTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = Simulator("--start", "2026-01-01T00:00:00Z")
        self.addCleanup(self.store.close)
        self.store.customer(CUSTOMER)
        database = os.environ["ASSAY_TEST_POSTGRES"]
        subprocess.run(["psql", "-X", "-q", "-d", database, "-c", "DROP SCHEMA IF EXISTS assay CASCADE"], check=True)
        self.nodes = []
        for number in range(2):
            place = self.folder / f"node-{number}"
            place.mkdir()
            self.nodes.append(Assay(place, self.store, products=TERMS, database=database))
            self.addCleanup(self.nodes[-1].close)

    def test_everybody_shows_the_same_purchases(self) -> None:
        proofs = []
        for number in range(PURCHASES):
            order = {"order_id": f"race-{number}", "customer_id": CUSTOMER, "product_id": PRODUCT}
            self.assertEqual(self.nodes[number % 2].call("POST", "/v1/orders", order)[0], 201)
            sold = self.store.buy(CUSTOMER, PRODUCT)["transaction_id"]
            proofs.append(self.store.get(f"/transactions/{sold}")["signed_transaction_info"])
        record = Record(self.folder / "answers.jsonl")
        self.addCleanup(record.close)
        start = threading.Barrier(CLIENTS * len(self.nodes))
        clients = [
            threading.Thread(target=self.show, args=(node, proofs, start, record, number))
            for node in self.nodes
            for number in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.check(record.lines())

    @staticmethod
    def show(node: Assay, proofs: list[str], start: threading.Barrier, record: Record, number: int) -> None:
        caller = Caller(str(number), record)
        start.wait()
        answers = []
        for place, proof in enumerate(proofs):
            status, answer = None, b""
            while status is None or status >= 500:
                body = {"proof": proof, "customer_id": CUSTOMER, "order_id": f"race-{place}"}
                status, answer = caller.send(node, "POST", "/v1/purchases", body, None)
            answers.append((status, json.loads(answer)))
        caller.close()
        # All of them at once: the race is not to wait for the disk.
        record.add({"answers": answers})

    def check(self, lines: list[dict]) -> None:
        self.assertEqual(len(lines), CLIENTS * len(self.nodes))
        results: list[Counter[str]] = [Counter() for _ in range(PURCHASES)]
        shown: list[set[str]] = [set() for _ in range(PURCHASES)]
        for line in lines:
            for place, (status, answer) in enumerate(line["answers"]):
                self.assertEqual(status, 200, answer)
                results[place][answer["result"]] += 1
                shown[place].add(json.dumps(answer["transactions"], sort_keys=True))
        for place in range(PURCHASES):
            self.assertEqual(results[place], {"recorded": 1, "already_recorded": len(lines) - 1}, place)
            self.assertEqual(len(shown[place]), 1, shown[place])
            (transaction,) = json.loads(shown[place].pop())
            fulfilment = transaction["fulfilment"]
            self.assertEqual((fulfilment["state"], fulfilment["order_id"]), ("granted", f"race-{place}"))
        for node in self.nodes:
            (balance,) = node.call("GET", f"/v1/customers/{CUSTOMER}/balances")[1]["balances"]
            self.assertEqual(balance["balance"], 100 * PURCHASES)
            path = f"/v1/customers/{CUSTOMER}/balances/gems/postings?environment=production&test_signed=true&limit=500"
            postings = node.call("GET", path)[1]["postings"]
            self.assertEqual(len({posting["transaction_id"] for posting in postings}), PURCHASES)
            self.assertEqual(len(postings), PURCHASES)
            for number in range(PURCHASES):
                self.assertEqual(node.call("GET", f"/v1/orders/race-{number}")[1]["state"], "paid")


if __name__ == "__main__":
    unittest.main()
