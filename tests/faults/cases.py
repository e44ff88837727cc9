"""The cases of the fault campaign: a run, a fault and the ranks it hits, made from a class, a number and a seed."""
import dataclasses
import errno
import random
import resource
import signal


@dataclasses.dataclass
class Case:
    """One run of the host.  Its fault is in `host` (arguments), `environment`, `mounts` or `stack`."""
    name: str
    ranks: int = 0                    # 0: without MPI
    level: str = "init"
    per_node: int = 0
    host: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    mounts: list = dataclasses.field(default_factory=list)  # lines of sh; WORK and /dev/shm are private to the run
    adapter: bool = False             # the host does not know the library, which is preloaded (libeffort_pmpi)
    stack: int = 0                    # ulimit -s, in KiB
    signal: int = 0                   # a signal that may end the host
    arrives: bool = False             # the signal does end the host, or is caught
    patience: float = 30              # seconds for a run of a fraction of a second, because machines are busy


def placed(draw, case, ranks, share=0.7):
    """Draws the number of ranks, and makes the fault hit one of them with probability `share`, otherwise all."""
    case.ranks = draw.choice(ranks)
    case.level = draw.choice(["init", "funneled", "serialized", "multiple"])
    case.per_node = draw.choice([0, 1, 2])
    if draw.random() < share and case.ranks > 0:
        case.host["rank"] = draw.choice([0, case.ranks - 1])
    return case


def preloaded(case, call, what, at, always=False):
    case.environment.update(FAULT_CALL=call, FAULT_WHAT=what, FAULT_AT=str(at))
    if always:
        case.environment["FAULT_ALWAYS"] = "1"
    if "rank" in case.host:
        case.environment["FAULT_RANK"] = str(case.host["rank"])


# Microseconds from the beginning of a phase.
PHASES = {"init": 6000, "steps": 40000, "callback": 3000, "snapshot": 15000, "finalize": 15000}
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGXFSZ, signal.SIGPIPE, signal.SIGSTOP, signal.SIGKILL]


def signals(number, draw, case):
    """A signal arrives at a random moment of a phase."""
    placed(draw, case, [0, 0, 1, 2, 2, 3, 4, 8], 1)
    sent = SIGNALS[number % len(SIGNALS)]
    phase = draw.choice(list(PHASES))
    case.host["signal"] = f"{int(sent)},{phase},{draw.randrange(PHASES[phase])}"
    case.signal = sent
    case.arrives = phase in ("init", "steps")
    if sent == signal.SIGSTOP:
        case.host["continue"] = 300
        case.arrives = False
    elif sent != signal.SIGKILL and draw.random() < 0.5:
        case.host["handle"] = 1


def interrupted(number, draw, case):
    """A signal arrives in the middle of a call from the library to the C library."""
    placed(draw, case, [0, 0, 1, 2, 3], 1)
    sent = SIGNALS[number % len(SIGNALS)]
    if sent == signal.SIGSTOP:
        sent = signal.SIGKILL
    call = draw.choice(["any", *CALLS])
    times = 3000 if call == "any" else min(5, CALLS[call][0])
    preloaded(case, call, f"signal:{int(sent)}", draw.randint(1, times))
    case.signal = sent
    if sent != signal.SIGKILL and draw.random() < 0.5:
        case.host["handle"] = 1


LIMITS = ["AS", "FSIZE", "NOFILE", "STACK", "NPROC", "MEMLOCK"]


def limits(number, draw, case):
    """A limit of a resource: six resources, twenty values of each."""
    placed(draw, case, [0, 0, 1, 2, 3])
    which, step = LIMITS[number % 6], number // 6 % 20
    if which == "STACK":
        case.stack = 64 + 16 * step * step
        return
    value = {"AS": int(2 ** (16 + 0.65 * step)) if step else 0, "FSIZE": 600 * step * step, "NOFILE": step,
             "NPROC": step, "MEMLOCK": 4096 * step}[which]
    phase = draw.choice(["init", "init", "steps"])
    case.host["limit"] = f"{getattr(resource, 'RLIMIT_' + which)},{value},{phase}"


def files(number, draw, case):
    """The directory of the snapshots and the report fails in one of six ways."""
    placed(draw, case, [0, 0, 1, 2, 3])
    kind = ["full", "read-only", "vanishes", "slow", "a file", "no room for names"][number % 6]
    if kind == "full":
        case.mounts = [f"mount -t tmpfs -o size={draw.choice([4, 8, 12, 16, 24])}k tmpfs $WORK"]
    elif kind == "read-only":
        case.mounts = ["mount -t tmpfs tmpfs $WORK", "mount -o remount,ro $WORK"]
    elif kind == "no room for names":
        case.mounts = [f"mount -t tmpfs -o nr_inodes={draw.choice([2, 3, 4])} tmpfs $WORK"]
    elif kind == "vanishes":
        case.environment.update(EFFORT_SNAPSHOT_DIR="snapshots", VANISH="snapshots")
        case.host["vanish"] = draw.randrange(60)
    elif kind == "slow":
        preloaded(case, draw.choice(["write", "fsync", "open"]), f"slow:{draw.choice([1000, 20000])}", 1, always=True)
        case.patience += 20
    else:
        case.environment.update(EFFORT_SNAPSHOT_DIR="/dev/null/snapshots", EFFORT_REPORT="/dev/null/report.txt")


def shared_memory(number, draw, case):
    """/dev/shm is tiny or read-only."""
    placed(draw, case, [2, 2, 3, 4])
    size = [0, 4, 64, 256, 512, 800, 1024, 1536][number % 8]
    # MPI keeps its own shared memory elsewhere.
    case.environment["OMPI_MCA_btl_vader_backing_directory"] = "$TMPDIR"
    if size == 0:
        case.mounts = ["mount -t tmpfs tmpfs /dev/shm", "mount -o remount,ro /dev/shm"]
    else:
        case.mounts = [f"mount -t tmpfs -o size={size}k tmpfs /dev/shm"]


# Calls, how often a run makes them, and the errors they may return.
CALLS = {
    "open": (130, ["ENOSPC", "EIO", "EMFILE", "EACCES", "EINTR", "ENOENT"]),
    "fopen64": (3, ["ENOSPC", "EMFILE", "EACCES"]),
    "write": (8, ["ENOSPC", "EIO", "EINTR", "EAGAIN", "EPIPE", "short"]),
    "read": (80, ["EIO", "EINTR"]),
    "ftruncate": (2, ["ENOSPC", "EINTR", "EIO"]),
    "posix_fallocate": (2, ["ENOSPC", "EINTR", "EIO", "EOPNOTSUPP"]),
    "mmap": (3, ["ENOMEM", "EAGAIN", "ENODEV"]),
    "fsync": (11, ["EIO", "ENOSPC", "EINTR", "EINVAL"]),
    "link": (5, ["EPERM", "ENOSPC", "EIO", "EXDEV", "EMLINK"]),
    "linkat": (5, ["EPERM", "ENOSPC", "EIO", "ENOENT"]),
    "rename": (5, ["EIO", "ENOSPC"]),
    "shm_open": (3, ["EACCES", "EMFILE", "ENOSPC", "EINTR"]),
    "memfd_create": (2, ["EMFILE", "ENOSYS", "EPERM"]),
    "pthread_create": (5, ["EAGAIN"]),
    "mkdir": (2, ["EACCES", "ENOSPC"]),
}


def calls(number, draw, case):
    """A call from the library to the C library fails, once or from then on."""
    placed(draw, case, [0, 0, 2, 3])
    call = list(CALLS)[number % len(CALLS)]
    times, ways = CALLS[call]
    way = draw.choice(ways)
    what = "short" if way == "short" else f"errno:{getattr(errno, way)}"
    preloaded(case, call, what, draw.randint(1, times), draw.random() < 0.4 and way != "EINTR")


def memory(number, draw, case):
    """An allocation fails, once or from then on: one of the first, or any."""
    placed(draw, case, [0, 0, 2, 3])
    at = 1 + number // 2 if number < 200 else int(9000 ** draw.random())
    preloaded(case, "malloc", f"errno:{errno.ENOMEM}", at, draw.random() < 0.4)


def adapter_memory(number, draw, case):
    """An allocation of the adapter or of the library behind it fails on one rank, mostly with all that follow.  Ranks
    find steps together, end them at collectives or at messages, and one without memory must not leave the others alone.
    A run makes some 1,400 allocations."""
    case.ranks = draw.choice([2, 2, 3])
    case.per_node = draw.choice([0, 1])
    case.adapter = True
    case.host["rank"] = draw.choice([0, case.ranks - 1])
    case.environment["EFFORT_STEP"] = ["auto", "MPI_Allreduce", "MPI_Sendrecv:2@fault_host"][number // 4 % 3]
    case.environment["EFFORT_COMM_MATRIX"] = draw.choice(["0", "1"])
    case.environment["EFFORT_COMM_WAITS"] = draw.choice(["0", "1"])
    preloaded(case, "malloc", f"errno:{errno.ENOMEM}", 150 + 200 * number if number < 6 else draw.randint(1, 1500),
              draw.random() < 0.7 or number < 6)


def clocks(number, draw, case):
    """The clock jumps."""
    placed(draw, case, [0, 1, 2, 3])
    seconds = draw.choice([-1000000, -3600, -1, 1, 60, 3600, 1000000])
    preloaded(case, "clock_gettime", f"jump:{seconds}", int(1000 ** draw.random()), always=draw.random() < 0.7)


def stopped(number, draw, case, seconds=10):
    """The first rank of a node is stopped for a while."""
    placed(draw, case, [2, 3, 4])
    phase = draw.choice(list(PHASES))
    case.host.update(rank=0, signal=f"{int(signal.SIGSTOP)},{phase},{draw.randrange(10000)}")
    case.host["continue"] = int(1000 * seconds)
    case.patience += seconds


WRONG = {"result": "result '", "exit": "ended with 3", "hang": "did not end", "caught": "handler was called",
         "outlives": "survived signal 15", "shm": "/dev/shm/effort-left is left", "tmp": "effort-left is left among",
         "file": ".a.part is left", "snapshot": "a.effort cannot be read"}


def wrong(number, draw, case):
    """The host itself misbehaves, and the campaign must report it with the text in WRONG."""
    case.ranks = 2 if number in (0, 3) else 0
    case.host["wrong"] = list(WRONG)[number]
    case.patience = 2 if case.host["wrong"] == "hang" else 30
    if case.host["wrong"] in ("caught", "outlives"):
        case.host["signal"] = f"{int(signal.SIGTERM)},steps,0"
        case.host["rank"] = 0
        case.arrives = True
        case.signal = signal.SIGTERM
    if case.host["wrong"] == "caught":
        case.host["handle"] = 1


# Class: number of cases in the short and in the whole campaign.
CLASSES = {signals: (8, 300), interrupted: (6, 300), limits: (12, 120), files: (6, 60), shared_memory: (4, 40),
           calls: (15, 450), memory: (0, 300), adapter_memory: (6, 150),
           clocks: (4, 60), stopped: (1, 6), wrong: (0, 0)}


def make(kind, number, seed, whole, trace=False):
    draw = random.Random(f"{kind.__name__}:{number}:{seed}")
    case = Case(f"{kind.__name__}:{number}")
    case.host["snapshot"] = draw.choice([-1, 10, 30])
    if kind is stopped:
        stopped(number, draw, case, 10 if whole else 1)
    else:
        kind(number, draw, case)
    if kind is not wrong and case.ranks > 0 and draw.random() < 0.2:
        case.adapter = True
    if kind is not wrong and (draw.random() < 0.5 or trace):
        case.environment.update(EFFORT_TRACE="on", EFFORT_TRACE_MEMORY="262144", EFFORT_TRACE_PIN="0-7",
                                EFFORT_TRACE_DESIGN=draw.choice(["retrospective", "subset", "global"]))
    if case.ranks > 3 and not whole:
        case.ranks = 3
        case.host["rank"] = 0
    return case
