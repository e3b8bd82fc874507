"""Joins what the simulated store sold, what the clients saw, what the ledger holds and what the shop received.

    I1   no transaction, order, owner or event twice
    I2   what was answered with 2xx is in the ledger, and says the same
    I3   nothing is in the ledger that the store did not sell, nor otherwise than it was sold
    I4   each purchase is credited once, to one owner, for one order that it fits
    I6   each event is delivered to each endpoint, or is to be, or is dead with a reason; what is delivered was received
    I7   the shop received every event, always the same bytes, always signed; where a 2xx acknowledges, that was noted
    I8   what was moved adds up to what there is
    I12  events are numbered without a gap; the newest of what the shop was told is the ledger's own
    I13  under one Idempotency-Key everybody was answered alike, byte for byte, save of a purchase that was known
    I17  the database finds nothing wrong with its file, and `assay check` nothing wrong with the ledger

I20, the time until nothing is under way any more, is taken by whoever runs the checker.
"""

import subprocess
from collections import Counter, defaultdict

from clients import GOODS
from ledger import DEAD, DELIVERED, GIVEN, LEASED, PENDING, QUERIES, REALM, milliseconds
from simulator import ASSAY
from world import FileWorld, World


class Checker:
    def __init__(self, world: World, truth: dict[str, dict]) -> None:
        self.world = world
        self.truth = truth
        self.problems: list[str] = []
        self.figures: Counter[str] = Counter()

    def problem(self, invariant: str, text: str) -> None:
        self.problems.append(f"{invariant}: {text}")

    def expect(self, invariant: str, is_so: bool, text: str) -> bool:
        if not is_so:
            self.problem(invariant, text)
        return is_so

    def run(self) -> None:
        self.seen = [line for client in self.world.clients for line in client.record.lines()]
        self.received = [sink.record.lines() for sink in self.world.sinks]
        self.read()
        self.transactions = {row["transaction_id"]: row for row in self.tables["transactions"]}
        self.fulfilments = {row["transaction_id"]: row for row in self.tables["fulfilments"]}
        self.orders = {row["order_id"]: row for row in self.tables["orders"]}
        self.owners = {row["original_id"]: row["customer"] for row in self.tables["owners"]}
        self.named: dict[str, str] = {}
        self.moved = {row["original_id"]: row["previous"] for row in self.tables["owners"] if row["previous"]}
        self.purchases: dict[int, list[dict]] = defaultdict(list)
        for row in self.tables["postings"]:
            if row["cause"] == "purchase":
                self.purchases[row["transaction_id"]].append(row)
        self.check_uniqueness()
        self.check_transfers()
        self.check_answers()
        self.check_keys()
        self.check_truth()
        self.check_credits()
        self.check_orders()
        self.check_balances()
        self.check_events()
        self.check_deliveries()
        self.check_shop()

    def read(self) -> None:
        self.world.rest()
        try:
            self.tables = {name: self.world.rows(query) for name, query in QUERIES.items()}
            if isinstance(self.world, FileWorld):
                for check in ("integrity_check", "foreign_key_check"):
                    found = [tuple(row.values()) for row in self.world.rows(f"PRAGMA {check}")]
                    self.expect("I17", found in ([], [("ok",)]), f"{check}: {found[:5]}")
        finally:
            self.world.wake()
        found = subprocess.run(
            [ASSAY, "check", "--config", str(self.world.nodes[0].configuration)], capture_output=True, text=True
        )
        self.expect("I17", found.returncode == 0, f"assay check: {found.stdout[-500:]}{found.stderr[-500:]}")

    def check_uniqueness(self) -> None:
        names = {
            "transactions": ("transaction_id", "realm"),
            "fulfilments": ("transaction_id", "realm"),
            "orders": ("order_id",),
            "owners": ("original_id", "realm"),
            "events": ("id",),
        }
        for table, columns in names.items():
            counts = Counter(tuple(row[column] for column in columns) for row in self.tables[table])
            for key, count in counts.items():
                self.expect("I1", count == 1, f"{table} {key}: {count} times")
            realms = {row["realm"] for row in self.tables[table] if "realm" in row and table != "events"}
            self.expect("I3", realms <= {REALM}, f"{table}: realms {realms}")

    # What the clients saw

    def check_transfers(self) -> None:
        """Nobody asks for one: a purchase changes hands only to whom Apple signed it."""
        for line in self.seen:
            if line["kind"] == "order" and line["status"] in (200, 201) and "app_account_token" in line["answer"]:
                self.named[line["answer"]["app_account_token"]] = line["answer"]["order_id"]
        for chain, previous in self.moved.items():
            owner, token = self.owners[chain], self.truth[str(chain)].get("account_token")
            is_right = owner != previous and token in self.named
            is_right = is_right and self.orders[self.named[token]]["customer"] == owner
            self.expect("I4", is_right, f"{chain} went from {previous} to {owner}, and Apple signed {token}")
        self.figures["moved"] += len(self.moved)

    def check_answers(self) -> None:
        requests: dict[tuple, list[dict]] = defaultdict(list)
        for line in self.seen:
            self.figures["requests"] += 1
            requests[line["client"], line["request"]].append(line)
            status, is_forged = line["status"], line.get("is_forged", False)
            if is_forged and status is not None and status < 500:
                self.expect("I3", status == 422, f"forged by {line['flaw']}: {status} {line['answer']}")
                self.figures["forged and refused"] += status == 422
            if status is not None and 200 <= status < 300:
                self.figures["acknowledged"] += 1
                self.check_answer(line)
        for lines in requests.values():
            self.check_resolution(sorted(lines, key=lambda line: line["attempt"]))

    def check_resolution(self, lines: list[dict]) -> None:
        """A request that was first not answered, and had been committed all the same."""
        last = lines[-1]
        self.expect("I20", last["status"] is not None, f"{last['path']} of {last['client']} was never answered")
        if len(lines) < 2 or last["status"] is None or last["status"] >= 300:
            return
        if last["kind"] == "purchase" and last["answer"]["result"] == "already_recorded":
            self.figures["committed but unanswered, then resolved"] += 1

    def check_answer(self, line: dict) -> None:
        answer, kind = line["answer"], line["kind"]
        if kind in ("purchase", "receipt"):
            for shown in answer["transactions"]:
                self.check_shown(line, shown)
        elif kind == "order":
            row = self.orders.get(answer["order_id"])
            if not self.kept("order", row, line):
                return
            same = all(
                row[column] == answer[member]
                for column, member in (("customer", "customer_id"), ("product", "product_id"), ("quantity", "quantity"))
            )
            is_same = same and row["placed_at"] == milliseconds(answer["placed_at"])
            self.expect("I2", is_same, f"order {answer['order_id']}: {row} is not {answer}")
        elif kind == "acknowledge":
            row = self.fulfilments.get(int(line["transaction"]))
            if self.kept("acknowledgement", row, line) and row["fence"] == answer["fence"]:
                progress = row["delivery"]
                self.expect("I2", progress in ("acknowledged", "compensated"), f"{line['path']}: {progress}")

    def kept(self, what: str, row: dict | None, line: dict) -> bool:
        if row is None:
            self.figures["lost"] += 1
            self.problem("I2", f"{what} lost after {line['status']}: {line['path']} {line['answer']}")
        return row is not None

    def check_shown(self, line: dict, shown: dict) -> None:
        number = int(shown["transaction_id"])
        row = self.transactions.get(number)
        if not self.kept("transaction", row, line):
            return
        chain = int(self.truth[shown["transaction_id"]]["original_transaction_id"])
        owner = self.owners.get(chain)
        fulfilment = shown.get("fulfilment")
        if shown["decision"] == "owned_by_another_customer":
            is_right = owner != line["customer"] or chain in self.moved
            self.expect("I4", is_right, f"{number} is {owner}'s, and that one was refused it")
            return
        # It was the other one's until Apple's word was understood, and gave nothing.
        was_owner = self.moved.get(chain) == line["customer"] and (fulfilment or {}).get("state") == "waiting"
        is_right = owner == line["customer"] or was_owner
        self.expect("I4", is_right, f"{number} is {owner}'s, and {line['customer']} was told so")
        is_same = (
            row["customer"] == shown["customer_id"]
            and row["product"] == shown["product_id"]
            and row["quantity"] == shown["quantity"]
            and row["purchased_at"] // 1000 == milliseconds(shown["purchase_date"]) // 1000
            and row["recorded_at"] == milliseconds(shown["recorded_at"])
        )
        self.expect("I2", is_same, f"transaction {number}: {row} is not {shown}")
        if fulfilment and fulfilment["state"] in GIVEN:
            now = self.fulfilments[number]
            is_same = now["state"] in GIVEN and now["fence"] >= fulfilment["fence"]
            is_same = is_same and now["order_id"] == fulfilment.get("order_id")
            if not self.expect("I2", is_same, f"grant of {number}: {now} is not {fulfilment}"):
                self.figures["lost"] += 1

    def check_keys(self) -> None:
        answers: dict[str, set] = defaultdict(set)
        for line in self.seen:
            if line["key"] and line["status"] is not None and line["status"] < 500 and line["kind"] != "reused key":
                # What wrote nothing is decided again, and much may have happened since.
                if (line.get("answer") or {}).get("result") == "already_recorded":
                    continue
                answers[line["key"]].add((line["status"], line["digest"]))
            if line["kind"] == "reused key" and line["status"] is not None and line["status"] < 500:
                self.expect("I13", line["status"] == 409, f"{line['key']} for another request: {line['status']}")
        for key, found in answers.items():
            self.expect("I13", len(found) == 1, f"{key} was answered in {len(found)} ways")

    # The ledger, and the truth

    def check_truth(self) -> None:
        forged = {int(line["transaction"]) for line in self.seen if line.get("is_forged")}
        for number, row in self.transactions.items():
            self.figures["transactions"] += 1
            sold = self.truth.get(str(number))
            if not self.expect("I3", sold is not None, f"{number} was never sold"):
                continue
            self.expect("I3", number not in forged, f"{number} was only ever shown forged")
            is_same = row["product"] == sold["product"] and row["quantity"] == sold["quantity"]
            is_same = is_same and row["purchased_at"] // 1000 == milliseconds(sold["purchased_at"]) // 1000
            self.expect("I3", is_same, f"{number}: {row} is not {sold}")
            is_revoked = row["revoked_at"] is not None
            self.expect("I3", is_revoked == ("revocation" in sold), f"{number}: revoked {is_revoked}, and {sold}")
        shown = {line["transaction"] for line in self.seen if line["kind"] == "purchase" and line["status"] == 200}
        for number in shown:
            self.expect("I2", int(number) in self.transactions, f"{number} was shown and is not there")

    def check_credits(self) -> None:
        for number, row in self.transactions.items():
            fulfilment = self.fulfilments.get(number)
            if not self.expect("I4", fulfilment is not None, f"{number} was recorded, and never settled"):
                continue
            amount = GOODS[row["product"]] * row["quantity"]
            credits = self.purchases[number]
            is_granted = fulfilment["state"] in GIVEN
            self.figures["granted"] += is_granted
            wanted = 1 if is_granted and amount else 0
            if not self.expect("I4", len(credits) == wanted, f"{number} was credited {len(credits)} times, not {wanted}"):
                self.figures["twice"] += len(credits) > wanted
                self.figures["lost"] += len(credits) < wanted
            for posting in credits:
                is_right = posting["amount"] == amount and posting["customer"] == fulfilment["customer"]
                self.expect("I4", is_right, f"{number}: {posting} for {fulfilment}")
            if is_granted:
                self.expect("I4", fulfilment["unit"] is not None, f"{number} was granted as nothing")
            owner = self.owners.get(int(self.truth[str(number)]["original_transaction_id"]))
            self.expect("I4", fulfilment["customer"] == owner, f"{number}: {fulfilment['customer']} is not {owner}")
        for number in set(self.purchases) - set(self.transactions):
            self.problem("I3", f"{number} was credited and is not there")

    def check_orders(self) -> None:
        payments: Counter[int] = Counter()
        for name, order in self.orders.items():
            if order["state"] in ("pending", "expired", "cancelled"):
                self.expect("I4", order["paid_by"] is None, f"order {name}: {order}")
                continue
            payments[order["paid_by"]] += 1
            paid = self.fulfilments.get(order["paid_by"])
            if not self.expect("I4", paid is not None, f"order {name} was paid by what is not there: {order}"):
                continue
            fits = paid["order_id"] == name and all(paid[it] == order[it] for it in ("customer", "product", "quantity"))
            self.expect("I4", fits, f"order {name}: {order} was paid by {paid}")
            self.expect(
                "I4",
                (order["state"] == "refunded") == (paid["state"] == "reversed"),
                f"order {name} is {order['state']}, and what paid it {paid['state']}",
            )
            self.expect("I4", order["refunded"] == paid["reversed"], f"order {name}: {order}, and what paid it: {paid}")
        for number, count in payments.items():
            self.expect("I4", count == 1, f"{number} paid {count} orders")
        paying = {name: row for name, row in self.fulfilments.items() if row["order_id"] and row["state"] != "waiting"}
        for number, row in paying.items():
            self.expect("I4", payments[number] == 1, f"{number} was granted for order {row['order_id']}, which is not paid")
        # Whatever came first, an order and what pays it have found each other.
        open_orders = {
            (order["customer"], order["product"], order["quantity"])
            for order in self.orders.values()
            if order["state"] in ("pending", "expired") and not order["has_token"]
        }
        for number, row in self.fulfilments.items():
            wish = (row["customer"], row["product"], row["quantity"])
            is_missed = row["state"] == "waiting" and row["reason"] == "no_order" and wish in open_orders
            # Whoever had a copy first.
            signed = self.orders.get(self.named.get(self.truth[str(number)].get("account_token")))
            is_open = signed is not None and signed["state"] in ("pending", "expired")
            is_missed |= row["state"] == "waiting" and is_open and wish[1:] == (signed["product"], signed["quantity"])
            self.expect("I4", not is_missed, f"{number} waits for an order, and there is one: {wish}")

    def check_balances(self) -> None:
        wallets: dict[tuple, list[dict]] = defaultdict(list)
        for posting in self.tables["postings"]:
            wallets[posting["customer"], posting["realm"], posting["currency"]].append(posting)
        expected = self.expected_balances()
        for wallet in self.tables["wallets"]:
            key = wallet["customer"], wallet["realm"], wallet["currency"]
            moved = wallets.pop(key, [])
            numbers = sorted(posting["number"] for posting in moved)
            self.expect("I8", numbers == list(range(1, wallet["postings"] + 1)), f"{key}: numbers {numbers[:20]}")
            for account in ("balance", "uncollected"):
                total = sum(posting["amount"] for posting in moved if posting["credit"] == account)
                total -= sum(posting["amount"] for posting in moved if posting["debit"] == account)
                self.expect("I8", total == wallet[account], f"{key}: {account} {wallet[account]} and not {total}")
            self.expect("I8", all(posting["debit"] != posting["credit"] for posting in moved), f"{key}: in a circle")
            wanted = expected.pop(wallet["customer"], 0)
            if not self.expect("I4", wallet["balance"] == wanted, f"{key}: {wallet['balance']} and not {wanted}"):
                self.figures["twice" if wallet["balance"] > wanted else "lost"] += 1
        self.expect("I8", not wallets, f"moved in no wallet: {list(wallets)[:5]}")
        for customer, balance in expected.items():
            self.expect("I4", balance == 0, f"{customer} has nothing, and not {balance}")
        reversals: Counter[int] = Counter()
        for posting in self.tables["postings"]:
            if posting["cause"] == "refund":
                reversals[posting["transaction_id"]] += posting["amount"]
            elif posting["cause"] == "refund_reversed":
                reversals[posting["transaction_id"]] -= posting["amount"]
        for number, amount in reversals.items():
            row = self.transactions[number]
            granted = GOODS[row["product"]] * row["quantity"]
            wanted = granted * self.fulfilments[number]["reversed"] // 100_000
            self.expect("I8", amount == wanted, f"{number}: {amount} of {granted} taken back, and not {wanted}")

    def expected_balances(self) -> Counter[str]:
        """By what was sold and not refunded, and by what the clients were told that they used."""
        expected: Counter[str] = Counter()
        for number, row in self.fulfilments.items():
            if row["state"] not in GIVEN:
                continue
            sold = self.truth[str(number)]
            amount = GOODS[sold["product"]] * sold["quantity"]
            revocation = sold.get("revocation")
            share = revocation.get("percentage", 100_000) if revocation else 0
            expected[row["customer"]] += amount - amount * share // 100_000
        used = {line["key"]: line for line in self.seen if line["kind"] == "use" and line["status"] == 200}
        for line in used.values():
            expected[line["customer"]] -= line["amount"]
        return expected

    # Events, and their way to the shop

    def check_events(self) -> None:
        events = self.tables["events"]
        self.figures["events"] = len(events)
        positions = [event["position"] for event in events]
        self.expect("I12", positions == list(range(1, len(events) + 1)), "places have a gap")
        self.expect("I12", [row["last_position"] for row in self.tables["heads"]] == [len(events)], "the head is elsewhere")
        streams: dict[tuple, list[int]] = defaultdict(list)
        for event in events:
            streams[event["realm"], event["customer"]].append(event["sequence"])
        for stream, numbers in streams.items():
            self.expect("I12", numbers == list(range(1, len(numbers) + 1)), f"{stream}: {numbers[:30]}")

    def check_deliveries(self) -> None:
        names = {row["position"]: row["id"] for row in self.tables["events"]}
        codes = {row["id"]: row["code"] for row in self.tables["endpoints"]}
        for endpoint, lines in zip(self.world.endpoints, self.received):
            arrived = {line["id"] for line in lines if 200 <= line["status"] < 300}
            rows = [row for row in self.tables["deliveries"] if row["endpoint"] == codes[endpoint]]
            counts = Counter(row["position"] for row in rows)
            self.expect("I6", set(counts) == set(names), f"{endpoint}: {len(counts)} deliveries of {len(names)} events")
            self.expect("I6", all(count == 1 for count in counts.values()), f"{endpoint}: a delivery twice")
            states = Counter(row["state"] for row in rows)
            self.expect("I6", states[LEASED] == states[PENDING] == 0, f"{endpoint}: still under way: {dict(states)}")
            for row in rows:
                if row["state"] == DEAD:
                    self.problem("I6", f"{endpoint}: {row} is dead, and every answer but a few was good")
                elif row["state"] == DELIVERED:
                    name = names[row["position"]]
                    self.expect("I6", name in arrived, f"{endpoint}: {name} counts as delivered, and never was")

    def check_shop(self) -> None:
        events = {row["id"] for row in self.tables["events"]}
        for endpoint, lines in zip(self.world.endpoints, self.received):
            bodies: dict[str, set[str]] = defaultdict(set)
            arrivals: Counter[str] = Counter()
            goods: dict[str, dict] = {}
            for line in lines:
                bodies[line["id"]].add(line["digest"])
                self.expect("I7", line["is_genuine"], f"{endpoint}: {line['id']} is not signed")
                if not 200 <= line["status"] < 300:
                    continue
                arrivals[line["id"]] += 1
                told = line["message"]["data"].get("delivery") or {}
                if told.get("fence", 0) > goods.get(told.get("delivery_id"), {}).get("fence", 0):
                    goods[told["delivery_id"]] = told
            self.figures["webhooks received"] += len(lines)
            self.figures["webhooks received again"] += sum(count - 1 for count in arrivals.values())
            self.expect("I7", set(bodies) == events, f"{endpoint}: {len(set(bodies) ^ events)} events more or less")
            for name, found in bodies.items():
                self.expect("I7", len(found) == 1, f"{endpoint}: {name} came with {len(found)} bodies")
            self.check_goods(endpoint, goods)

    def check_goods(self, endpoint: str, goods: dict[str, dict]) -> None:
        """A shop that delivers by the fence has what the ledger says that it should."""
        wanted = {n: row for n, row in self.fulfilments.items() if row["state"] in GIVEN}
        told = {int(name.removeprefix("dlv_").split(".")[0]): delivery for name, delivery in goods.items()}
        self.expect("I12", set(told) == set(wanted), f"{endpoint}: {len(set(told) ^ set(wanted))} goods more or less")
        for number in set(told) & set(wanted):
            delivery, row = told[number], wanted[number]
            is_same = delivery["fence"] == row["fence"] and delivery["state"] == row["state"]
            is_same = is_same and delivery["customer_id"] == row["customer"] and delivery["quantity"] == row["quantity"]
            self.expect("I12", is_same, f"{endpoint}: {number} is {row}, and the shop has {delivery}")
            is_done = row["delivery"] in ("acknowledged", "compensated") or endpoint != self.world.acknowledging
            self.expect("I7", is_done, f"{endpoint}: {number} was answered with 2xx and is {row['delivery']}")
