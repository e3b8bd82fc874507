"""One server under a steady load of everything that it lives on, and whether it keeps anything for itself.

What must hold is in `gauge.py`. Every answer must be the right one too, and every event reach whoever waits for it.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from callers import Load
from clients import TERMS
from gauge import Gauge, Sample
from server import Assay
from simulator import BUNDLE_ID, Simulator

# Connections that are kept for the next request end by themselves, and threads without work too.
REST_WITHIN = 180.0
# Before this long a run tells nothing of memory: caches fill, and pages come back late.
MEMORY_FROM_SECONDS = 300


class Soak:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.seconds = arguments.minutes * 60
        self.rate = arguments.rate
        self.rest_within = arguments.rest_within
        self.folder = Path(tempfile.mkdtemp(prefix="assay-soak."))
        self.problems: list[str] = []
        database = None
        if arguments.postgres:
            database = os.environ["ASSAY_TEST_POSTGRES"]
            drop = "DROP SCHEMA IF EXISTS assay CASCADE"
            subprocess.run(["psql", "-X", "-q", "-d", database, "-c", drop], check=True)
        self.where = "PostgreSQL" if database else "SQLite"
        with contextlib.ExitStack() as opened:
            self.store = Simulator("--start", "2026-01-01T00:00:00Z", "--seed", str(arguments.seed))
            opened.callback(self.store.close)
            self.is_planted = bool(arguments.plant)
            environment = planted(arguments.plant, self.folder)
            self.assay = Assay(self.folder, self.store, products=TERMS, database=database, environment=environment)
            opened.callback(self.assay.close)
            self.gauge = Gauge(self.assay.process.pid)
            self.load = Load(self.assay, self.store, arguments.seed, arguments.rate)
            opened.callback(self.load.close)
            place = f"{self.assay.url}/v1/apple/notifications/demo"
            self.store.call("PUT", f"/apps/{BUNDLE_ID}/notifications", {"url": place})
            self.opened = opened.pop_all()

    def run(self) -> bool:
        # Once of everything, so that what is opened once is open.
        self.load.everything()
        self.problems += self.load.rest()
        before, kinds = self.come_to_rest(None), self.gauge.kinds()
        print(f"{self.where}, {self.rate:g} errands/s for {self.seconds:.0f} s; at rest {before}", flush=True)
        samples = self.under_load()
        self.problems += self.load.rest()
        after = self.come_to_rest(before)
        print(f"at rest again: {after}")
        self.problems += Gauge.judge(samples, judges_memory=self.seconds >= MEMORY_FROM_SECONDS)
        wrong = Gauge.compare(before, after)
        self.problems += wrong
        if wrong:
            print(f"descriptors at rest: {kinds}\nat rest again: {self.gauge.kinds()}")
        self.report(samples)
        return not self.problems

    def under_load(self) -> list[Sample]:
        samples, every = [], max(0.1, min(5.0, self.seconds / 200))
        began = told = time.monotonic()
        self.load.start()
        while time.monotonic() - began < self.seconds and not self.load.fault:
            time.sleep(every)
            samples.append(self.gauge.sample())
            if time.monotonic() - told >= 60:
                told = time.monotonic()
                print(f"{(told - began) / 60:4.0f} min  {samples[-1]}  {self.load.count} errands", flush=True)
        self.load.stop()
        self.problems += [f"an errand failed: {self.load.fault!r}"] if self.load.fault else []
        return samples

    def come_to_rest(self, before: Sample | None) -> Sample:
        """Until it holds no more than before, or nothing changes any more, or for as long as that may take."""
        began, last = time.monotonic(), self.gauge.sample()
        same_since = began
        while time.monotonic() - began < self.rest_within:
            time.sleep(0.2)
            now = self.gauge.sample()
            if before and not Gauge.compare(before, now):
                return now
            if (now.descriptors, now.threads) != (last.descriptors, last.threads):
                last, same_since = now, time.monotonic()
            elif not before and time.monotonic() - same_since > 2:
                return now
        return self.gauge.sample()

    def report(self, samples: list[Sample]) -> None:
        print("\n".join(Gauge.figures(samples)))
        print(", ".join(f"{name} {count}" for name, count in sorted(self.load.counts.items())))
        for problem in self.problems[:60]:
            print(f"BROKEN {problem}")
        if self.problems:
            print(f"the server's lines are in {self.folder}")

    def close(self) -> None:
        self.opened.close()
        if not self.problems or self.is_planted:
            shutil.rmtree(self.folder, ignore_errors=True)


def planted(what: str | None, folder: Path) -> dict[str, str]:
    """A fault that this must find: something is kept for every connection."""
    if not what:
        return {}
    library = folder / "plant.so"
    source = Path(__file__).with_name("plant.c")
    subprocess.run(["clang", "-shared", "-fPIC", "-O", "-o", str(library), str(source)], check=True)
    return {"LD_PRELOAD": str(library), "SOAK_PLANT": what}


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser()
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--rate", type=float, default=20, help="errands a second, of one or two requests each")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--postgres", action="store_true", help="on PostgreSQL instead of SQLite")
    options.add_argument("--rest-within", type=float, default=REST_WITHIN, help="seconds")
    options.add_argument("--plant", choices=["descriptors", "memory", "threads"], help="a leak that must be found")
    return options


def main(words: list[str] | None = None) -> int:
    soak = Soak(parser().parse_args(words))
    try:
        return 0 if soak.run() else 1
    finally:
        soak.close()


if __name__ == "__main__":
    sys.exit(main())
