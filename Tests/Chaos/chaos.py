"""Real processes under real faults: cycles of them, and after some a check that nothing was lost and nothing given twice.

The truth of what was sold, the clients' records, the ledgers and the shops' records are kept apart, and joined by a
checker: `checker.py` lists what must hold.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from checker import Checker
from faults import FAKETIME, Faults, FileFaults, SharedFaults
from simulator import Simulator
from world import FileWorld, SharedWorld, World

# Until nothing is under way any more after the last fault: an answer that never comes, a lease, a breaker that failed probes.
QUIET_WITHIN = 180.0


class Chaos:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.folder = Path(tempfile.mkdtemp(prefix="assay-chaos."))
        self.random = random.Random(arguments.seed)
        self.store = Simulator("--start", "2026-01-01T00:00:00Z", "--seed", str(arguments.seed))
        self.worlds: list[World] = []
        self.faults: list[Faults] = []
        self.figures: Counter[str] = Counter()
        self.recoveries: list[float] = []
        self.problems: list[str] = []
        self.problem_lock = threading.Lock()

    def build(self) -> None:
        arguments = self.arguments
        clients = arguments.clients
        shared = SharedWorld(
            os.environ["ASSAY_TEST_POSTGRES"], self.folder / "shared", self.store, arguments.seed, clients, 0.1
        )
        self.worlds.append(shared)
        self.faults.append(SharedFaults(shared, arguments.seed + 1, arguments.only))
        size = 64 + 4 * arguments.cycles
        single = FileWorld(self.folder / "single", self.store, arguments.seed, max(clients // 2, 2), 0.1, size)
        self.worlds.append(single)
        self.faults.append(FileFaults(single, arguments.seed + 2, arguments.only))
        print(f"seed {arguments.seed}, {clients} clients of two servers on PostgreSQL with fsync "
              f"{os.environ.get('POSTGRES_FSYNC', 'as it is')}, {len(single.clients)} of one on SQLite")
        print(f"disk of SQLite: {single.disk.kind}" if single.disk.kind else
              "skipped: a full disk, because no small disk can be mounted here (that takes root)")
        if not FAKETIME:
            print("skipped: clocks that jump, because libfaketime is not installed")
        for world in self.worlds:
            world.begin()

    def run(self) -> bool:
        started = time.monotonic()
        self.build()
        cycle = 0
        while cycle < self.arguments.cycles and not self.problems:
            for world in self.worlds:
                world.open()
            for _ in range(min(self.arguments.check_every, self.arguments.cycles - cycle)):
                self.cycle(cycle)
                cycle += 1
                if self.arguments.seconds and time.monotonic() - started > self.arguments.seconds:
                    self.arguments.cycles = cycle
                    break
            self.figures["cycles"] = cycle
            self.check()
        for world in self.worlds:
            world.finish()
        self.report(time.monotonic() - started)
        return not self.problems

    def cycle(self, number: int) -> None:
        """A fault in each world at the same time."""
        time.sleep(self.random.uniform(0.2, 0.8))
        names: list[str] = [""] * len(self.faults)

        def strike(place: int) -> None:
            try:
                names[place] = self.faults[place].strike()
            except Exception as fault:
                self.problem(f"{self.worlds[place].name}: the fault could not be made: {fault!r}")

        self.in_each(strike)
        if self.arguments.verbose:
            print(f"cycle {number}: {' | '.join(names)}", flush=True)

    def check(self) -> None:
        seconds = [0.0] * len(self.worlds)

        def quieten(place: int) -> None:
            try:
                seconds[place] = self.quieten(self.worlds[place], self.faults[place])
            except Exception as fault:
                self.problem(f"{self.worlds[place].name}: it cannot be brought to rest: {fault!r}")

        self.in_each(quieten)
        self.recoveries += seconds
        if self.problems:
            # What is still under way would look like a contradiction.
            return
        # Only now do all records belong together.
        truth = self.truth()
        for world in self.worlds:
            checker = Checker(world, truth)
            checker.run()
            for problem in checker.problems:
                self.problem(f"{world.name} {problem}")
            for name, value in checker.figures.items():
                self.figures[f"{world.name} {name}"] = value
        lost, twice = self.figures["p lost"] + self.figures["s lost"], self.figures["p twice"] + self.figures["s twice"]
        print(f"checked after {self.figures['cycles']} cycles: lost {lost}, credited twice {twice}, "
              f"quiet after {self.recoveries[-2]:.1f} s and {self.recoveries[-1]:.1f} s", flush=True)

    def quieten(self, world: World, faults: Faults) -> float:
        """No more faults; how long until nobody waits for anything."""
        faults.end()
        ended = time.monotonic()
        if not world.calm(QUIET_WITHIN + World.patience):
            self.problem(f"{world.name}: clients still wait for an answer")
        for client in world.clients:
            if client.fault:
                self.problem(f"{world.name}: client {client.name}: {client.fault!r}")
        if world.drain(QUIET_WITHIN) is None:
            self.problem(f"{world.name} I20: still to be sent after {QUIET_WITHIN} s: {world.left()}")
        return time.monotonic() - ended

    def in_each(self, act: Callable[[int], None]) -> None:
        """In all worlds at the same time."""
        threads = [threading.Thread(target=act, args=(place,)) for place in range(len(self.worlds))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def truth(self) -> dict[str, dict]:
        sold, place = {}, 0
        while place is not None:
            page = self.store.get(f"/ledger?after={place}")
            sold |= {line["transaction_id"]: line for line in page["transactions"]}
            place = page.get("next")
        return sold

    def problem(self, text: str) -> None:
        with self.problem_lock:
            self.problems.append(text)

    def report(self, seconds: float) -> None:
        def total(name: str) -> int:
            return sum(self.figures[f"{world.name} {name}"] for world in self.worlds)

        kills = sum(node.kills for world in self.worlds for node in world.nodes)
        print(f"\n{self.figures['cycles']} cycles in {seconds:.0f} s, {kills} kills")
        for world, faults in zip(self.worlds, self.faults):
            print(f"faults {world.name}: " + ", ".join(f"{name} {n}" for name, n in sorted(faults.counts.items())))
        for proxy in getattr(self.worlds[0], "proxies", []):
            print("ways to the database: " + ", ".join(f"{name} {n}" for name, n in proxy.figures.items()))
        for name in ("requests", "acknowledged", "forged and refused", "committed but unanswered, then resolved"):
            print(f"{name}: {total(name)}")
        print(f"lost: {total('lost')}\ncredited twice: {total('twice')}")
        for name in ("transactions", "granted", "moved", "events", "webhooks received", "webhooks received again"):
            print(f"{name}: {total(name)}")
        print(f"longest recovery: {max(self.recoveries, default=0):.1f} s")
        for problem in self.problems[:60]:
            print(f"BROKEN {problem}")
        if self.problems:
            print(f"{len(self.problems)} in all; the records are in {self.folder}; seed {self.arguments.seed}")

    def close(self) -> None:
        for world in self.worlds:
            world.close()
        self.store.close()
        if not self.problems and not self.arguments.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=0, help="no cycle begins later")
    parser.add_argument("--check-every", type=int, default=10)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="faults with this word in their names")
    parser.add_argument("--keep", action="store_true", help="the records, also when all is good")
    parser.add_argument("--verbose", action="store_true")
    chaos = Chaos(parser.parse_args())
    try:
        return 0 if chaos.run() else 1
    finally:
        chaos.close()


if __name__ == "__main__":
    sys.exit(main())
