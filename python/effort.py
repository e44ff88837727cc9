"""Snapshots of effort in Python: loads by region, rank and step, and tables over many runs.

    import effort
    runs = effort.open("results/*.effort")
    runs.summary()                       # one row a run: ranks, steps, imbalance, critical path, ...
    runs.regions("time")                 # run x region: total, mean_over_ranks, max_over_ranks, imbalance
    runs[0].load()["time"].sel(region="solve").max("rank")

Results are xarray.Dataset if xarray is installed, with names and units as coordinates and attributes, otherwise Table,
which holds the same as NumPy arrays.  The module has no compiled part: it runs the `effort` command (`info --json` and
`export`), which is found in PATH, or is named by `command=` or by setting `effort.COMMAND`.

Snapshots are read when something is asked for: `summary`, `regions` and `windows` read sums (milliseconds), `load`
decodes histories and takes 8 bytes for each region, rank and step.  Nothing is changed on disk; `load` needs a
temporary directory of the size of its result.  Objects may be used by several threads if these do not share a Run.
"""

import glob as _glob
import json as _json
import os as _os
import subprocess as _subprocess
import tempfile as _tempfile

import numpy as _np

try:
    import xarray as _xarray
except ImportError:  # Table takes its place
    _xarray = None

__all__ = ["COMMAND", "EffortError", "Run", "Runs", "Table", "Variable", "open"]

COMMAND = "effort"
"""The command that reads snapshots, a name in PATH or a path."""

_SUMMARY = {  # keys of `effort info --json`, with unit and meaning
    "ranks": ("1", "ranks"),
    "nodes": ("1", "nodes"),
    "steps": ("1", "steps"),
    "wall_seconds": ("s", "wall time"),
    "critical_path": (None, "sum over steps of the largest load of all ranks"),
    "mean_path": (None, "sum over steps of the mean load of all ranks"),
    "imbalance": ("1", "critical path over mean path, minus 1"),
    "ideal_saving": ("1", "share by which ideal balance would shorten the run"),
    "own_cpu_seconds": ("s", "CPU time of the library's background threads"),
    "nrmse": ("1", "largest compression error of a region's history, normalised"),
}
_REGION = {
    "total": "sum over ranks and steps",
    "mean_over_ranks": "sum over steps, mean over ranks",
    "max_over_ranks": "sum over steps, largest rank",
    "imbalance": "largest rank over mean, minus 1",
}


class EffortError(RuntimeError):
    """The command is missing or refused a snapshot; the message is the command's."""


class Variable:
    """An array with the names of its dimensions and its unit; what xarray.DataArray is, without xarray."""

    def __init__(self, dims, values, attrs=None):
        self.dims, self.values, self.attrs = tuple(dims), _np.asarray(values), dict(attrs or {})

    @property
    def shape(self):
        return self.values.shape

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __repr__(self):
        return f"<Variable {dict(zip(self.dims, self.shape))} {self.attrs.get('units', '')}>"


class Table(dict):
    """Variables by name, with `coords` and `attrs`; what xarray.Dataset is, without xarray."""

    def __init__(self, variables, coords, attrs):
        super().__init__(variables)
        self.coords, self.attrs = coords, attrs


def _dataset(variables, coords, attrs):
    """Both arguments: name -> (dims, values, attrs)."""
    attrs = {key: value for key, value in attrs.items() if value is not None}
    if _xarray is not None:
        return _xarray.Dataset(variables, coords=coords, attrs=attrs)
    return Table({k: Variable(*v) for k, v in variables.items()}, {k: Variable(*v) for k, v in coords.items()}, attrs)


def _number(value):
    return _np.nan if value is None else value


class Run:
    """One snapshot.

    path     its file
    command  the `effort` command for this run (default: COMMAND)
    """

    def __init__(self, path, command=None):
        self.path = _os.fspath(path)
        self._command = command
        self._info = None

    def _call(self, *arguments):
        command = self._command or COMMAND
        try:
            done = _subprocess.run([command, *arguments], stdout=_subprocess.PIPE, stderr=_subprocess.PIPE, check=False)
        except OSError as error:
            raise EffortError(
                f"the command '{command}' cannot be run ({error.strerror}): add its folder to PATH, "
                "or set effort.COMMAND"
            ) from error
        if done.returncode != 0:
            raise EffortError(done.stderr.decode(errors="replace").strip() or f"{command} ended with {done.returncode}")
        return done.stdout

    @property
    def info(self):
        """All that `effort info --json` prints, as a dict.  Read once."""
        if self._info is None:
            self._info = _json.loads(self._call("info", "--json", self.path))
        return self._info

    @property
    def name(self):
        """The file's name without its ending."""
        return _os.path.splitext(_os.path.basename(self.path))[0]

    @property
    def units(self):
        """Unit of each metric, by name."""
        return dict(self.info["metric_units"])

    @property
    def region_names(self):
        """Names of the regions, call paths as functions where these are known."""
        return [region.get("resolved", region["name"]) for region in self.info["regions"]]

    def load(self, metric=None, region=None, level=0):
        """Loads by region, rank and step.

        metric  a metric's name (default: all)
        region  a region's name (default: all)
        level   0, or l for the 2^l times coarser approximation, over ranks and steps, which is read without expanding
                the whole history

        A variable a metric, of dimensions region, rank and step, in the metric's unit (`units`) per step.  Coordinates:
        region, kind and phase; rank (the first of a row above level 0); step (the first of a column).  Values are those
        of the snapshot, with its compression error.
        """
        with _tempfile.TemporaryDirectory(prefix="effort-") as folder:
            out = _os.path.join(folder, "npy")
            arguments = ["export", self.path, "--format", "npy", "-o", out, "--level", str(level)]
            arguments += ["--metric", metric] if metric is not None else []
            arguments += ["--region", region] if region is not None else []
            self._call(*arguments)
            with _open(_os.path.join(out, "axes.json"), encoding="utf-8") as file:
                axes = _json.load(file)
            variables = {
                name: (("region", "rank", "step"), _np.load(_os.path.join(out, entry["file"])),
                       {"units": entry["unit"], "long_name": f"{name} per step"})
                for name, entry in axes["metrics"].items()
            }
        coords = {
            "region": (("region",), axes.get("resolved", axes["regions"]), {}),
            "kind": (("region",), axes["kinds"], {}),
            "phase": (("region",), axes["phases"], {}),
            "rank": (("rank",), axes["ranks"], {}),
            "step": (("step",), axes["steps"], {}),
        }
        return _dataset(variables, coords, {"source": self.path, "level": axes["level"]})

    def windows(self):
        """The analysis windows: every number that `effort info --json` has for them, of dimension window."""
        rows = self.info["windows"]
        numbers = (int, float, type(None))
        keys = [k for k in (rows[0] if rows else {}) if all(isinstance(row.get(k), numbers) for row in rows)]
        variables = {k: (("window",), [_number(r.get(k)) for r in rows], {}) for k in keys}
        return _dataset(variables, {"window": (("window",), list(range(len(rows))), {})}, {"source": self.path})

    def __repr__(self):
        return f"<effort.Run {self.path}>"


class Runs(list):
    """Several snapshots, in the order of their names; a list of Run."""

    def _names(self):
        names = [run.name for run in self]
        return names if len(set(names)) == len(names) else [run.path for run in self]

    def summary(self):
        """One value a run for each of ranks, nodes, steps, wall_seconds, critical_path, mean_path, imbalance,
        ideal_saving, own_cpu_seconds and nrmse.  NaN if the snapshot does not have it."""
        loads = {run.units.get(run.info["load_metric"], "") for run in self}
        variables = {}
        for key, (unit, meaning) in _SUMMARY.items():
            values = [_number(_imbalance(run.info) if key == "imbalance" else run.info.get(key)) for run in self]
            variables[key] = (("run",), values, {"units": unit or "/".join(sorted(loads)), "long_name": meaning})
        return _dataset(variables, {"run": (("run",), self._names(), {})}, {})

    def regions(self, metric=None):
        """Sums of each region in each run: total, mean_over_ranks, max_over_ranks and imbalance, of dimensions run and
        region.  A region that a run does not have is NaN there.  Regions of several phases are added up; their
        imbalance then is that of the sums, an upper bound.

        metric  a metric's name (default: the load of the first run)
        """
        if metric is None:
            metric = self[0].info["load_metric"] if self else "time"
        names = list(dict.fromkeys(name for run in self for name in run.region_names))
        sums = {key: _np.full((len(self), len(names)), _np.nan) for key in _REGION}
        units = set()
        for i, run in enumerate(self):
            units.add(run.units.get(metric))
            for name, region in zip(run.region_names, run.info["regions"]):
                numbers = region["metrics"].get(metric)
                if numbers is None:
                    continue
                for key in ("total", "mean_over_ranks", "max_over_ranks"):
                    at = sums[key][i]
                    j = names.index(name)
                    at[j] = numbers[key] if _np.isnan(at[j]) else at[j] + numbers[key]
        with _np.errstate(divide="ignore", invalid="ignore"):
            sums["imbalance"] = sums["max_over_ranks"] / sums["mean_over_ranks"] - 1
        units.discard(None)
        if not units:
            raise EffortError(f"no run has the metric '{metric}'; Run.units has the metrics of each")
        variables = {
            key: (("run", "region"), sums[key],
                  {"units": "1" if key == "imbalance" else "/".join(sorted(units)), "long_name": meaning})
            for key, meaning in _REGION.items()
        }
        coords = {"run": (("run",), self._names(), {}), "region": (("region",), names, {})}
        return _dataset(variables, coords, {"metric": metric})


def _imbalance(info):
    critical, mean = info.get("critical_path"), info.get("mean_path")
    return critical / mean - 1 if critical is not None and mean else None


_open = open


def open(paths, command=None):
    """Snapshots as Runs.

    paths    a path, a pattern ("results/*.effort", "**" for any depth), or several of them
    command  the `effort` command (default: COMMAND)

    FileNotFoundError if a path or pattern matches no file.  Files are read later, when something is asked for.
    """
    if isinstance(paths, (str, _os.PathLike)):
        paths = [paths]
    runs = Runs()
    for path in map(_os.fspath, paths):
        found = [path] if _os.path.exists(path) else sorted(_glob.glob(path, recursive=True))
        if not found:
            raise FileNotFoundError(f"no snapshot matches '{path}'")
        runs.extend(Run(file, command) for file in found)
    return runs
