"""What a process holds, and whether that rises.

The first quarter of a run is its warm-up. Of each quarter of the rest the lowest value counts: what a request needs for
a moment raises the highest, what is kept raises the lowest. It rises steadily when each lowest value is above the one
before, and the last above the first by more than is allowed.
"""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

PARTS = 4
# Of the first lowest value: an allocator that gives pages back late, and the page cache of a database that grows.
MEMORY_SHARE = 0.05
MEMORY_KIBIBYTES = 4096
DESCRIPTORS, THREADS = 3, 3
# At rest: a thread that waits a little for more work.
THREADS_AT_REST = 1


@dataclass(frozen=True)
class Sample:
    kibibytes: int
    descriptors: int
    threads: int
    cpu_seconds: float

    def __str__(self) -> str:
        memory = f"{self.kibibytes / 1024:.1f} MiB"
        return f"{memory}, {self.descriptors} descriptors, {self.threads} threads, {self.cpu_seconds:.1f} s of CPU"


def floors(values: list[int]) -> list[int]:
    """The lowest value of each part after the warm-up; none of too few values."""
    rest = values[len(values) // 4 :]
    size = len(rest) // PARTS
    return [min(rest[part * size : (part + 1) * size]) for part in range(PARTS)] if size > 0 else []


def rises(values: list[int], allowed: float) -> bool:
    lowest = floors(values)
    if not lowest:
        return False
    return all(low < high for low, high in zip(lowest, lowest[1:])) and lowest[-1] - lowest[0] > allowed


class Gauge:
    def __init__(self, process: int) -> None:
        self.place = Path("/proc", str(process))

    def sample(self) -> Sample:
        fields = dict(line.split(":", 1) for line in (self.place / "status").read_text().splitlines())
        times = (self.place / "stat").read_text().rsplit(")", 1)[1].split()
        return Sample(
            kibibytes=int(fields["VmRSS"].split()[0]),
            descriptors=len(os.listdir(self.place / "fd")),
            threads=int(fields["Threads"]),
            cpu_seconds=(int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"),
        )

    def kinds(self) -> str:
        """What its descriptors are of."""
        counts: Counter[str] = Counter()
        for descriptor in (self.place / "fd").iterdir():
            try:
                counts[re.sub(r":\[.*", "", os.path.basename(os.readlink(descriptor)))] += 1
            except FileNotFoundError:
                continue
        return ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))

    @staticmethod
    def judge(samples: list[Sample], judges_memory: bool) -> list[str]:
        """What rises under load."""
        series = {
            "descriptors": ([sample.descriptors for sample in samples], DESCRIPTORS),
            "threads": ([sample.threads for sample in samples], THREADS),
        }
        if judges_memory:
            memory = [sample.kibibytes for sample in samples]
            series["KiB"] = (memory, max(MEMORY_KIBIBYTES, MEMORY_SHARE * min(floors(memory) or [0])))
        return [f"{name} rise: {floors(values)}" for name, (values, allowed) in series.items() if rises(values, allowed)]

    @staticmethod
    def compare(before: Sample, after: Sample) -> list[str]:
        """What did not come back to where it was when the load had ended."""
        wrong = []
        if after.descriptors > before.descriptors:
            wrong.append(f"{before.descriptors} descriptors at rest became {after.descriptors}")
        if after.threads > before.threads + THREADS_AT_REST:
            wrong.append(f"{before.threads} threads at rest became {after.threads}")
        return wrong

    @staticmethod
    def figures(samples: list[Sample]) -> list[str]:
        lines = []
        for name, values in (
            ("KiB", [sample.kibibytes for sample in samples]),
            ("descriptors", [sample.descriptors for sample in samples]),
            ("threads", [sample.threads for sample in samples]),
        ):
            lines.append(f"{name}: lowest of each quarter {floors(values)}, highest {max(values, default=0)}")
        return lines
