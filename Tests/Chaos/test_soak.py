"""What rises and what does not; and some seconds of the soak, good and with a leak that was planted."""

import contextlib
import io
import unittest

import soak
from gauge import Gauge, Sample, floors, rises


def sample(descriptors: int = 20, threads: int = 9, kibibytes: int = 50_000) -> Sample:
    return Sample(kibibytes=kibibytes, descriptors=descriptors, threads=threads, cpu_seconds=0)


class GaugeTest(unittest.TestCase):
    def test_the_lowest_of_each_quarter_behind_the_warm_up_counts(self) -> None:
        self.assertEqual(floors([9] * 4 + [5, 7, 7, 6, 9, 8, 8, 9, 9, 3, 4, 4]), [5, 6, 8, 3])
        self.assertEqual(floors([1, 2, 3]), [])

    def test_what_rises_steadily(self) -> None:
        for rising, values in (
            (True, list(range(160))),
            # One in a quarter of an hour, and a hundred that come and go.
            (True, [place // 32 * 2 + (100 if place % 3 else 0) for place in range(160)]),
            (False, [7] * 160),
            # Only in the warm-up; once, and then no more; up and down; too little.
            (False, list(range(40)) + [40] * 120),
            (False, [7] * 100 + [70] * 60),
            (False, [place % 40 for place in range(160)]),
            (False, [place // 40 for place in range(160)]),
        ):
            with self.subTest(values=values[::10]):
                self.assertEqual(rises(values, 3), rising)

    def test_each_measure_is_judged_by_itself(self) -> None:
        self.assertEqual(Gauge.judge([sample() for _ in range(80)], True), [])
        for name, samples in (
            ("descriptors", [sample(descriptors=place) for place in range(80)]),
            ("threads", [sample(threads=place) for place in range(80)]),
            ("KiB", [sample(kibibytes=50_000 + 100 * place) for place in range(80)]),
        ):
            with self.subTest(name=name):
                (problem,) = Gauge.judge(samples, True)
                self.assertTrue(problem.startswith(f"{name} rise"), problem)
        # A cache that fills a little further.
        self.assertEqual(Gauge.judge([sample(kibibytes=50_000 + 10 * place) for place in range(80)], True), [])
        self.assertEqual(Gauge.judge([sample(kibibytes=50_000 + 100 * place) for place in range(80)], False), [])

    def test_at_rest_all_is_as_it_was(self) -> None:
        before = sample()
        rows = ((sample(), 0), (sample(19, 8), 0), (sample(threads=10), 0), (sample(21), 1), (sample(21, 11), 2))
        for after, count in rows:
            with self.subTest(after=str(after)):
                self.assertEqual(len(Gauge.compare(before, after)), count)


class SoakTest(unittest.TestCase):
    def run_soak(self, *words: str) -> tuple[int, str]:
        with contextlib.redirect_stdout(io.StringIO()) as told:
            code = soak.main(["--minutes", "0.1", "--rate", "20", *words])
        return code, told.getvalue()

    def test_a_good_server_is_found_good(self) -> None:
        code, told = self.run_soak()
        self.assertEqual(code, 0, told)

    def test_a_descriptor_that_is_kept_for_each_connection_is_found(self) -> None:
        code, told = self.run_soak("--plant", "descriptors", "--rest-within", "2")
        self.assertEqual(code, 1, told)
        self.assertRegex(told, r"BROKEN descriptors rise")
        self.assertRegex(told, r"BROKEN \d+ descriptors at rest became")


if __name__ == "__main__":
    unittest.main()
