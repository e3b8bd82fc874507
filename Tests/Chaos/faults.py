"""What befalls a world, drawn by a seed. Each fault ends by itself, save a long freeze, which ends by the clock."""

import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable

from world import FAKETIME, FileWorld, Node, SharedWorld, World

# Longer than a lease: what a frozen server held is another's when it wakes.
LONG_FREEZE = 33.0
CLOCKS = ["+400d", "-1d", "+3h", "-7200"]


class Faults:
    def __init__(self, world: World, seed: int, only: str | None) -> None:
        self.world = world
        # Of all faults those with this word in their names, where there are any.
        self.only = only
        self.random = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.deck: list[Callable[[], None]] = []

    def strike(self) -> str:
        """One fault. Each comes once before any comes again."""
        if not self.deck:
            every = self.all()
            self.deck = [fault for fault in every if self.only and self.only in fault.__name__] or every
            self.random.shuffle(self.deck)
        fault = self.deck.pop()
        name = fault.__name__.replace("_", " ")
        self.counts[name] += 1
        fault()
        return name

    def all(self) -> list[Callable[[], None]]:
        return [self.kill, self.kill, self.kill_twice, self.freeze, self.shop_away]

    def awake(self) -> list[Node]:
        for node in self.world.nodes:
            if 0 < node.is_frozen_until <= time.monotonic():
                node.resume()
                node.is_frozen_until = 0
        return [node for node in self.world.nodes if not node.is_frozen_until]

    def one(self) -> Node:
        return self.random.choice(self.awake())

    def pause(self, least: float, most: float) -> None:
        time.sleep(self.random.uniform(least, most))

    # Faults of every world

    def kill(self) -> None:
        self.pause(0.1, 1.5)
        node = self.one()
        node.kill()
        self.pause(0, 1)
        node.start()

    def kill_twice(self) -> None:
        """Again while it still starts."""
        node = self.one()
        for _ in range(2):
            node.kill()
            node.process = subprocess.Popen(
                node.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=node.environment
            )
            self.pause(0, 0.3)
        node.kill()
        node.start()

    def freeze(self) -> None:
        node = self.one()
        node.pause()
        self.pause(0.2, 3)
        node.resume()

    def shop_away(self) -> None:
        """Long enough that its servers leave it alone for a while."""
        sink = self.random.choice(self.world.sinks)
        sink.is_away = True
        self.pause(1, 3)
        sink.is_away = False

    def end(self) -> None:
        """All that goes on by itself."""
        while len(self.awake()) < len(self.world.nodes):
            time.sleep(0.2)


class SharedFaults(Faults):
    world: SharedWorld

    def all(self) -> list[Callable[[], None]]:
        faults = super().all() + [
            self.kill_both,
            self.freeze_longer_than_a_lease,
            self.terminate_sessions,
            self.restart_database_fast,
            self.restart_database_immediate,
            self.cut_connections,
            self.lose_answers_to_commits,
            self.lose_answers_to_commits,
            self.commit_late,
            self.stall_connections,
        ]
        return faults + [self.clock_jumps] * (FAKETIME is not None)

    def kill_both(self) -> None:
        nodes = self.awake()
        for node in nodes:
            node.kill()
        for node in nodes:
            node.start()

    def freeze_longer_than_a_lease(self) -> None:
        """In the background: the other server goes on, and is struck by other faults."""
        if len(self.awake()) < 2:
            return
        node = self.one()
        node.pause()
        node.is_frozen_until = time.monotonic() + LONG_FREEZE

    def terminate_sessions(self) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.world.sql(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
            self.pause(0.05, 0.7)

    def restart_database_fast(self) -> None:
        self.restart("fast")

    def restart_database_immediate(self) -> None:
        self.restart("immediate")

    def restart(self, mode: str) -> None:
        subprocess.run([os.environ["POSTGRES_RESTART"], mode], check=True)

    def cut_connections(self) -> None:
        for _ in range(self.random.randrange(1, 6)):
            self.random.choice(self.world.proxies).cut()
            self.pause(0.05, 0.5)

    def lose_answers_to_commits(self) -> None:
        for proxy in self.world.proxies:
            proxy.lost_answers = self.random.randrange(1, 8)
        self.pause(0.5, 2)
        self.heal()

    def commit_late(self) -> None:
        for proxy in self.world.proxies:
            proxy.late_commits = self.random.randrange(1, 4)
        self.pause(1, 3)
        self.heal()

    def stall_connections(self) -> None:
        proxy = self.random.choice(self.world.proxies)
        proxy.flowing.clear()
        self.pause(0.5, 3)
        self.heal()

    def clock_jumps(self) -> None:
        """Under way, or while it is down: then it also starts with the wrong time."""
        node = self.world.nodes[1]
        if node not in self.awake():
            return
        node.set_clock(self.random.choice(CLOCKS))
        if self.random.random() < 0.5:
            node.kill()
            node.start()
        self.pause(0.5, 2)
        node.set_clock("+0")

    def heal(self) -> None:
        for proxy in self.world.proxies:
            proxy.heal()

    def end(self) -> None:
        super().end()
        self.heal()
        # What runs on from here is sure of the time.
        self.world.nodes[1].has_jumped = False


class FileFaults(Faults):
    world: FileWorld

    def all(self) -> list[Callable[[], None]]:
        faults = super().all() + [self.kill, self.kill]
        if self.world.disk.kind:
            faults += [self.disk_full, self.disk_full, self.disk_full_and_kill]
        return faults

    def disk_full(self) -> None:
        self.world.disk.fill()
        self.pause(0.5, 3)
        self.world.disk.free()

    def disk_full_and_kill(self) -> None:
        self.world.disk.fill()
        self.pause(0, 1)
        self.one().kill()
        self.pause(0, 0.5)
        self.world.disk.free()
        self.one().start()
