"""Runs a host with planted waits (planted.c, planted.F90) under EZTrace, and looks for the waits in its OTF2 archive.

planted_eztrace.py HOST DIRECTORY EFFORT LAUNCHER...    LAUNCHER: the command that starts ranks, up to their number

EZTrace 2.0 does not record which receives a Waitall of a C program has completed, nor MPI_Mprobe, so these phases are
left out there.  Its clocks differ by the time between the starts of the processes.
"""
import pathlib
import shutil
import subprocess
import sys


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def main():
    host, directory, effort, launcher = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
    if not shutil.which("eztrace"):
        skip("eztrace is not installed")
    modules = subprocess.run(["eztrace_avail"], capture_output=True, text=True).stdout
    version = subprocess.run([launcher[0], "--version"], capture_output=True, text=True).stdout
    module = "openmpi" if "OpenRTE" in version or "Open MPI" in version else "mpich"
    if module not in modules:
        skip(f"EZTrace has no module for this MPI ({module})")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    run = subprocess.run([*launcher, "eztrace", "-t", module, "-o", directory / "trace", host], cwd=directory,
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"the host failed with {run.returncode}:\n{run.stdout}{run.stderr}")
    archives = list(directory.rglob("*.otf2"))
    if len(archives) != 1:
        sys.exit(f"EZTrace left {len(archives)} archives\n{run.stderr}")
    probe = subprocess.run([effort, "comm", "waits", archives[0]], capture_output=True, text=True)
    if "built without OTF2" in probe.stderr:
        skip("effort was built without OTF2")
    check = pathlib.Path(__file__).with_name("planted.py")
    without = [] if "fortran" in pathlib.Path(host).name else ["waitall", "probe"]
    sys.exit(subprocess.run([sys.executable, check, directory, effort, archives[0].relative_to(directory), *without])
             .returncode)


main()
