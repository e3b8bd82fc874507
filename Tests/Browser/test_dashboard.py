"""Every page of the dashboard in Chromium: as people see it, and as an attacker would like to have it."""

import base64
import re
import tempfile
import unittest
from pathlib import Path
from urllib.parse import quote

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from looking import THEMES, WIDTHS, launch, look, watch
from receiver import Receiver
from server import Assay
from simulator import BUNDLE_ID, Simulator

NAME, PASSWORD = "ann<script>alert(1)</script>", "a password of many words"
# Printable ASCII without spaces is what the API takes for an id; the rest goes wherever text is free.
HOSTILE_ID = "\"'><svg/onload=alert(1)><script>alert(2)</script>"
HOSTILE_TEXT = "\"\u0301'\u0308><\u0301script>alert(3)</script><img\u0301 src=x onerror=alert(4)>"


class DashboardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        store = Simulator("--start", "2026-01-01T00:00:00Z")
        cls.addClassCleanup(store.close)
        cls.assay = Assay(Path(folder.name), store)
        cls.addClassCleanup(cls.assay.close)
        cls.root = cls.assay.url + "/dashboard"
        cls.receiver = Receiver(HOSTILE_TEXT)
        cls.addClassCleanup(cls.receiver.close)
        cls.transaction = cls.fill(store)
        cls.kims, cls.mias = (cls.fill_waiting(store, customer) for customer in ("kim", "mia"))
        log = Path(folder.name, "log").read_text()
        cls.first = cls.assay.url + re.search(r'"path":"([^"]+)"', log).group(1).replace("\\/", "/")
        cls.browser = launch(cls)
        cls.state = cls.make_account()
        cls.pages = [
            "", "/triage", "/triage?span=month", "/revenue", "/revenue?currency=USD", "/subscriptions",
            "/subscriptions?state=expired", "/notifications", "/operations", "/accounts", "/audit", "/account", "/search?q=nothing",
            "/search?q=" + quote(HOSTILE_TEXT), f"/transaction?app=demo&id={cls.transaction}",
            f"/transaction?app=demo&id=1", "/customer?app=demo&id=anna",
            f"/customer?app=demo&id={quote(HOSTILE_ID)}", f"/order?app=demo&id={quote(HOSTILE_ID)}",
            "/webhooks", f"/webhook?id={cls.endpoint}", f"/webhook?id={cls.endpoint}&state=dead",
            f"/delivery?endpoint={cls.endpoint}&event={cls.event}", "/catalogue", "/apps", "/keys",
            f"/key?id={cls.key}", cls.notification,
            "/orders", "/orders?days=365&state=paid", *cls.action_pages(),
        ]  # fmt: skip

    @classmethod
    def fill(cls, store: Simulator) -> str:
        """A purchase for an order of hostile names, and refusals of hostile proofs."""
        call = cls.assay.call
        store.call("PUT", f"/apps/{BUNDLE_ID}/notifications", {"url": cls.assay.url + "/v1/apple/notifications/demo"})
        cls.make_endpoint()
        store.customer("anna")
        order = {"order_id": HOSTILE_ID, "customer_id": HOSTILE_ID, "product_id": BUNDLE_ID + ".coins.100"}
        status, answer = call("POST", "/v1/orders", order)
        assert status == 201, answer
        for proof in (HOSTILE_TEXT, base64.b64encode(HOSTILE_TEXT.encode()).decode(), "e30.e30.e30", HOSTILE_ID):
            status, answer = call("POST", "/v1/purchases", {"proof": proof, "customer_id": HOSTILE_ID})
            assert status in (202, 422), (status, answer)
        bought = store.buy("anna", BUNDLE_ID + ".coins.100")
        proof = store.get(f"/transactions/{bought['transaction_id']}")["signed_transaction_info"]
        purchase = {"proof": proof, "customer_id": HOSTILE_ID, "order_id": HOSTILE_ID}
        status, answer = call("POST", "/v1/purchases", purchase)
        assert status in (200, 201), (status, answer)
        cls.find_what_came()
        return bought["transaction_id"]

    @classmethod
    def make_endpoint(cls) -> None:
        """Where events go, to somebody who answers with a script; and a key."""
        wish = {"url": cls.receiver.url, "environments": ["production", "sandbox"], "include_test_signed": True}
        status, answer = cls.assay.call("POST", "/v1/webhooks", wish)
        assert status == 201, answer
        cls.endpoint = answer["webhook_id"]
        wish = {"name": "<script>alert(5)</script>", "kind": "secret"}
        status, answer = cls.assay.call("POST", "/v1/keys", wish)
        assert status == 201, answer
        cls.key = answer["key_id"]

    @classmethod
    def find_what_came(cls) -> None:
        """The first event that was sent and answered, and the first notification."""
        assert cls.receiver.came.wait(30)
        cls.event = cls.receiver.ids[0]
        _, answer = cls.assay.call("GET", "/v1/notifications")
        notice = answer["notifications"][0]
        side = notice["id"].removeprefix(notice["notification_uuid"] + ".")
        cls.notification = f"/notification?app=demo&side={side}&id={notice['notification_uuid']}"
    @classmethod
    def fill_waiting(cls, store: Simulator, customer: str) -> str:
        """A purchase that pays nothing by itself, because its order was cancelled before; another order that waits."""
        call = cls.assay.call
        product = BUNDLE_ID + ".coins.100"
        for name, quantity in (("cancelled", 1), ("open", 7)):
            order = {"order_id": f"{customer}-{name}", "customer_id": customer, "product_id": product, "quantity": quantity}
            status, answer = call("POST", "/v1/orders", order)
            assert status == 201, answer
        status, answer = call("POST", f"/v1/orders/{customer}-cancelled/cancel", {})
        assert status == 200, answer
        store.customer(customer)
        bought = store.buy(customer, product)
        proof = store.get(f"/transactions/{bought['transaction_id']}")["signed_transaction_info"]
        status, answer = call("POST", "/v1/purchases", {"proof": proof, "customer_id": customer})
        assert status in (200, 201), (status, answer)
        return bought["transaction_id"]

    @classmethod
    def action_pages(cls) -> list[str]:
        """What an operator is asked, and shown, before anything is done."""
        status, answer = cls.assay.call("GET", f"/v1/transactions/{cls.transaction}")
        assert status == 200, answer
        side = answer["transactions"][0]["environment"] + ".test"
        place = f"?app=demo&side={side}&id={cls.transaction}"
        adjust = f"/adjust?app=demo&side={side}&customer={quote(HOSTILE_ID)}"
        return [
            f"/attach?app=demo&side={side}&id={cls.mias}",
            f"/attach?app=demo&side={side}&id={cls.mias}&order=mia-cancelled",
            "/transfer" + place, f"/transfer{place}&to={quote(HOSTILE_ID)}2", "/acknowledge" + place,
            adjust, adjust + "&currency=gems&amount=-5", "/order/cancel?app=demo&id=mia-open",
        ]  # fmt: skip

    @classmethod
    def make_account(cls) -> dict:
        context = cls.browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(cls.first)
        page.fill("#name", NAME)
        page.fill("#password", PASSWORD)
        page.click("main button")
        assert page.url == cls.root, page.url
        state = context.storage_state()
        context.close()
        return state

    def test_every_page_in_both_themes_and_widths(self) -> None:
        for theme in THEMES:
            for width in WIDTHS:
                context = self.browser.new_context(
                    color_scheme=theme,
                    viewport={"width": width, "height": 800},
                    storage_state=self.state,
                )
                for path in self.pages:
                    with self.subTest(theme=theme, width=width, path=path):
                        self.look(context.new_page(), path, width)
                context.close()

    def look(self, page: Page, path: str, width: int) -> None:
        look(self, page, self.root + path, self.assay.url, width)

    def test_the_pages_of_the_api_in_both_themes_and_widths(self) -> None:
        context = self.browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(self.assay.url + "/docs")
        links = page.eval_on_selector_all("a[href^='/docs']", "all => all.map(one => one.pathname)")
        context.close()
        paths = sorted({"/docs", *links})
        self.assertGreater(len(paths), 5)
        for theme in THEMES:
            for width in WIDTHS:
                context = self.browser.new_context(color_scheme=theme, viewport={"width": width, "height": 800})
                for path in paths:
                    with self.subTest(theme=theme, width=width, path=path):
                        look(self, context.new_page(), self.assay.url + path, self.assay.url, width)
                context.close()

    def test_what_can_be_done_is_done_by_forms_alone(self) -> None:
        context = self.browser.new_context(java_script_enabled=False, storage_state=self.state)
        page = context.new_page()
        endpoint = f"{self.root}/webhook?id={self.endpoint}"
        page.goto(endpoint)
        page.click("text=Send a test message")
        self.assertIn("answered 500", page.locator("[role=status]").inner_text())
        page.goto(endpoint)
        page.click("text=Have a new secret sign, too")
        self.assertTrue(page.locator("pre.secret").inner_text().startswith("whsec_"))
        page.goto(endpoint)
        self.assertEqual(page.locator("pre.secret").count(), 0)
        page.goto(self.root + "/keys")
        page.fill("#name", "backend")
        page.check("[name=may_read]")
        page.click("text=Make the key")
        self.assertTrue(page.locator("pre.secret").inner_text().startswith("sk_"))
        page.click("text=Revoke it now")
        self.assertIn("revoked", page.locator("main").inner_text())
        page.goto(self.root + self.notification)
        page.click("button:has-text('Decide it once more')")
        self.assertIn("nothing changed", page.locator("[role=status]").inner_text())
        page.goto(self.root + "/audit")
        log = page.locator("main").inner_text()
        for word in ("webhook_tested", "webhook_secret_made", "key_made", "key_revoked", "notification_decided_again"):
            self.assertIn(word, log)
        context.close()

    def test_every_page_without_javascript(self) -> None:
        context = self.browser.new_context(java_script_enabled=False, storage_state=self.state)
        page = context.new_page()
        for path in self.pages:
            with self.subTest(path=path):
                page.goto(self.root + path)
                self.assertTrue(page.locator("main h1").is_visible())
        page.goto(self.root)
        page.fill("#q", self.transaction)
        page.keyboard.press("Enter")
        page.wait_for_url("**/transaction?**")
        self.assertIn("Granted", page.locator("main").inner_text())
        context.close()

    def test_the_keyboard_reaches_the_content_first(self) -> None:
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        page.goto(self.root)
        page.keyboard.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.textContent"), "Skip to the content")
        page.keyboard.press("Enter")
        self.assertEqual(page.evaluate("document.activeElement.id"), "main")
        context.close()

    def tab_to(self, page: Page, what: str) -> None:
        """Goes on by the tabulator to a link or button with this text, or to the field of this id."""
        for _ in range(120):
            page.keyboard.press("Tab")
            at = page.evaluate("[document.activeElement.textContent.trim(), document.activeElement.id]")
            if what in at:
                return
        self.fail(f"the keyboard does not reach {what} on {page.url}")

    def test_an_operator_acts_by_keyboard(self) -> None:
        found: list[str] = []
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        watch(page, self.assay.url, found)

        def follow(what: str) -> None:
            self.tab_to(page, what)
            with page.expect_navigation():
                page.keyboard.press("Enter")

        def fill(field: str, text: str) -> None:
            self.tab_to(page, field)
            page.keyboard.type(text)
            with page.expect_navigation():
                page.keyboard.press("Enter")

        page.goto(self.root + "/orders")
        follow(self.kims)
        follow("Have it pay an order")
        follow("kim-cancelled")
        self.assertIn("cannot be undone", page.locator("main").inner_text())
        fill("reason", "she paid for it")
        page.wait_for_url("**/transaction?**")
        self.assertIn("Granted", page.locator("main").inner_text())

        follow("Transfer it to another customer")
        fill("to", "lee")
        self.assertIn("What would move", page.locator("main").inner_text())
        fill("reason", "her new account")
        page.wait_for_url("**/transaction?**")
        self.assertIn("Transfer it back to kim", page.locator("main").inner_text())

        page.goto(self.root + "/customer?app=demo&id=kim")
        follow("Change gems")
        fill("amount", "-30")
        self.assertIn("from 100 to 70", page.locator("main").inner_text())
        fill("reason", "counted twice")
        page.wait_for_url("**/customer?**")
        self.assertIn("70", page.locator("table", has_text="Balances").inner_text())

        page.goto(self.root + "/audit")
        rows = page.locator("main").inner_text()
        for word in ("purchase_attached", "purchase_transferred", "balance_adjusted", "counted twice"):
            self.assertIn(word, rows)
        self.assertEqual(found, [])
        context.close()

    def test_an_injected_script_would_not_run(self) -> None:
        """The second wall: were an escape missing, the policy would stop what is in the page."""
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        page.goto(self.root)
        page.evaluate("""() => {
            const script = document.createElement('script');
            script.textContent = 'document.title = "it ran"';
            document.body.append(script);
            document.body.insertAdjacentHTML('beforeend', '<img src="x:" onerror="document.title = `it ran`">');
        }""")
        self.assertNotEqual(page.title(), "it ran")
        context.close()

    def test_a_form_of_another_site_changes_nothing(self) -> None:
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        page.goto("data:text/html," + quote(f"<form method=post action='{self.root}/sign-out'><button>x</button></form>"))
        page.click("button")
        page.goto(self.root)
        self.assertEqual(page.url, self.root)
        context.close()

    def test_no_other_page_frames_ours(self) -> None:
        context = self.browser.new_context(storage_state=self.state)
        page = context.new_page()
        page.route("**/frame", lambda route: route.fulfill(body=f"<iframe src='{self.root}'></iframe>", content_type="text/html"))
        page.goto(self.assay.url + "/frame")
        page.wait_for_timeout(300)
        self.assertEqual([frame.name for frame in page.frames if frame.url.startswith(self.root)], [])
        context.close()

    def test_the_session_is_out_of_reach_and_ends(self) -> None:
        context = self.browser.new_context()
        page = context.new_page()
        page.goto(self.root + "/triage?span=month")
        self.assertIn("/sign-in", page.url)
        results = Axe().run(page)
        self.assertEqual(results.violations_count, 0, results.generate_report())
        page.fill("#name", NAME)
        page.fill("#password", "not the password")
        page.click("main button")
        self.assertIn("wrong", page.locator("[role=alert]").inner_text())
        page.goto(self.root + "/triage?span=month")
        page.fill("#name", NAME)
        page.fill("#password", PASSWORD)
        page.click("main button")
        self.assertTrue(page.url.endswith("/triage?span=month"), page.url)
        self.assertEqual(page.evaluate("document.cookie"), "")
        page.click("footer button")
        self.assertIn("/sign-in", page.url)
        page.goto(self.root)
        self.assertIn("/sign-in", page.url)
        context.close()


if __name__ == "__main__":
    unittest.main()
