"""The Python module on the golden snapshot.  Ends with 77 without NumPy.

effort_test.py MODULE_FOLDER EFFORT SNAPSHOT
"""

import os
import shutil
import sys
import tempfile
import unittest

folder, command, snapshot = sys.argv[1:4]
sys.path.insert(0, folder)
sys.dont_write_bytecode = True
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed (package python3-numpy)")
    sys.exit(77)
import effort

effort.COMMAND = command


def golden():
    """The loads that were written: tests/golden/snapshot/golden_run.cpp."""
    region, rank, step = np.ogrid[0:8, 0:8, 0:60]
    front = 1 / (1 + 0.25 * (rank * 8 - step) ** 2 / 16)
    noise = (region * 7919 + rank * 104729 + step * 1299709) % 97
    return 1e-3 * (region + 1) * (1 + 4 * front) + 1e-6 * noise


class Cases:
    def setUp(self):
        self.runs = effort.open(snapshot)

    def values(self, dataset, name):
        return dataset[name].values

    def test_loads_are_those_of_the_run(self):
        run = self.runs[0]
        loads = run.load()
        self.assertEqual(loads["cpu_time"].dims, ("region", "rank", "step"))
        self.assertEqual(loads["cpu_time"].attrs["units"], "s")
        self.assertEqual(list(loads.coords["region"].values), [f"region_{i}" for i in range(8)])
        self.assertEqual(loads.coords["kind"].values[7], "wait")
        expected = golden()
        error = np.sqrt(np.mean((self.values(loads, "cpu_time") - expected) ** 2, axis=(1, 2)))
        # The bound of each region's compression, relative to its range.
        bound = np.array([r["metrics"]["cpu_time"]["nrmse"] for r in run.info["regions"]])
        spread = expected.max(axis=(1, 2)) - expected.min(axis=(1, 2))
        self.assertTrue(np.all(error <= 1.01 * bound * spread + 1e-15), (error / spread, bound))

    def test_a_part_is_read(self):
        loads = self.runs[0].load(metric="cpu_time", region="region_3", level=1)
        self.assertEqual(loads["cpu_time"].shape, (1, 4, 30))
        self.assertEqual(list(loads.coords["step"].values[:3]), [0, 2, 4])

    def test_windows(self):
        windows = self.runs[0].windows()
        np.testing.assert_array_equal(self.values(windows, "first"), [10 * i for i in range(6)])
        np.testing.assert_array_equal(self.values(windows, "rebalance"), [0, 1, 0, 1, 0, 1])
        self.assertTrue(np.isnan(self.values(windows, "rebalance_cost")[0]))
        self.assertEqual(self.values(windows, "rebalance_cost")[2], 0.25)

    def test_many_runs(self):
        with tempfile.TemporaryDirectory() as several:
            for name in ("b", "a"):
                shutil.copy(snapshot, os.path.join(several, name + ".effort"))
            runs = effort.open(os.path.join(several, "*.effort"))
            summary = runs.summary()
            self.assertEqual(list(summary.coords["run"].values), ["a", "b"])
            np.testing.assert_array_equal(self.values(summary, "ranks"), [8, 8])
            loads = golden()[:6].sum(axis=0)
            balance = loads.max(axis=0).sum() / loads.mean(axis=0).sum() - 1
            np.testing.assert_allclose(self.values(summary, "imbalance"), balance, rtol=1e-12)
            regions = runs.regions("cpu_time")
            self.assertEqual(regions["total"].dims, ("run", "region"))
            self.assertEqual(regions["total"].attrs["units"], "s")
            sums = golden().sum(axis=2)
            np.testing.assert_allclose(self.values(regions, "total"), [sums.sum(axis=1)] * 2, rtol=1e-12)
            np.testing.assert_allclose(self.values(regions, "max_over_ranks"), [sums.max(axis=1)] * 2, rtol=1e-12)
            imbalance = sums.max(axis=1) / sums.mean(axis=1) - 1
            np.testing.assert_allclose(self.values(regions, "imbalance"), [imbalance] * 2, rtol=1e-9)

    def test_errors(self):
        with self.assertRaisesRegex(FileNotFoundError, "no snapshot matches 'nothing-\\*'"):
            effort.open("nothing-*")
        with self.assertRaisesRegex(effort.EffortError, "effort_test.py"):
            effort.open(__file__)[0].info
        with self.assertRaisesRegex(effort.EffortError, "'no-such-command' cannot be run"):
            effort.open(snapshot, command="no-such-command")[0].info
        with self.assertRaisesRegex(effort.EffortError, "no run has the metric 'heat'"):
            self.runs.regions("heat")
        with self.assertRaisesRegex(effort.EffortError, "no_such_region"):
            self.runs[0].load(region="no_such_region")


@unittest.skipIf(effort._xarray is None, "xarray is not installed (package python3-xarray)")
class Xarray(Cases, unittest.TestCase):
    pass


class NumPy(Cases, unittest.TestCase):
    """The same without xarray."""

    def setUp(self):
        super().setUp()
        module, effort._xarray = effort._xarray, None
        self.addCleanup(setattr, effort, "_xarray", module)

    def test_tables(self):
        table = self.runs.summary()
        self.assertIsInstance(table, effort.Table)
        self.assertEqual(np.asarray(table["steps"]).tolist(), [60])
        self.assertEqual(table["steps"].attrs["units"], "1")


unittest.main(argv=["effort_test"])
