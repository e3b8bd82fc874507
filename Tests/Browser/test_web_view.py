"""A page of another origin asks the validator in Chromium, as cordova-plugin-purchase does from an app's web view."""

import tempfile
import unittest
from pathlib import Path

from looking import launch
from server import KEY, Assay
from simulator import BUNDLE_ID, Simulator

# As the plugin's `ajax` asks.
ASK = """
([url, key, body]) => new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", url, true);
    request.onloadend = () => resolve([request.status, request.responseText, request.getResponseHeader("Retry-After")]);
    request.setRequestHeader("Authorization", "Bearer " + key);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Content-Type", "application/json;charset=UTF-8");
    request.send(JSON.stringify(body));
})
"""


class WebViewTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.store = Simulator()
        cls.addClassCleanup(cls.store.close)
        cls.assay = Assay(Path(folder.name), cls.store, app={"needs_orders": False})
        cls.addClassCleanup(cls.assay.close)
        cls.page = launch(cls).new_page()
        # Any page of another origin.
        cls.page.goto(cls.store.url)

    def ask(self, path: str, key: str, **transaction: str) -> list:
        body = {
            "id": BUNDLE_ID,
            "type": "application",
            "transaction": {"type": "apple-sk2", **transaction},
            "additionalData": {"applicationUsername": "anna"},
        }
        return self.page.evaluate(ASK, [self.assay.url + path, key, body])

    def test_the_page_reads_every_answer(self) -> None:
        self.store.customer("anna")
        sold = self.store.buy("anna", "coins.100")["transaction_id"]
        jws = self.store.get(f"/transactions/{sold}")["signed_transaction_info"]
        status, text, _ = self.ask("/validator", KEY, id="coins", jwsRepresentation=jws)
        self.assertEqual(status, 200)
        self.assertIn(sold, text)
        self.assertEqual(self.ask("/validator", "nobody")[0], 401)
        self.assertEqual(self.ask("/validator/nobody", "nobody")[0], 404)
        # Apple cannot be asked here.
        status, _, pause = self.ask("/validator", KEY, id="coins", jwsRepresentation="170000029449420")
        self.assertEqual(status, 503)
        self.assertGreater(int(pause), 0)

    def test_no_other_route_is_read(self) -> None:
        self.assertEqual(self.ask("/v1/purchases", KEY)[0], 0)


if __name__ == "__main__":
    unittest.main()
