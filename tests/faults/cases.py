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
    fired: bool = False               # the injection happened (set by the campaign)
    share: float = 0                  # where the injection happens among the calls of the function, from 0 to 1
    early: bool = False               # mostly among the first calls
    patience: float = 30              # seconds for a run of a fraction of a second, because machines are busy


def placed(draw, case, ranks, share=0.7):
    """Draws the number of ranks, and makes the fault hit one of them with probability `share`, otherwise all."""
    case.ranks = draw.choice(ranks)
    case.level = draw.choice(["init", "funneled", "serialized", "multiple"])
    case.per_node = draw.choice([0, 1, 2, 3])
    if draw.random() < share and case.ranks > 0:
        case.host["rank"] = draw.choice([0, case.ranks - 1])
    return case


def preloaded(case, call, what, share, always=False, early=False):
    """Injects a fault into a call of a function.  The campaign counts the calls and chooses one of them (FAULT_AT)."""
    case.environment.update(FAULT_CALL=call, FAULT_WHAT=what)
    case.share, case.early = share, early
    if always:
        case.environment["FAULT_ALWAYS"] = "1"


def made(draw, case, call):
    """Adds to the case what makes the library call a function at all: other faults, a trace, or another rank."""
    for need in CALLS[call][1].split() if call in CALLS else []:
        if need == "trace":
            traced(draw, case)
        elif need == "ranks":
            case.ranks = max(case.ranks, 2)
            case.per_node = draw.choice([0, 2])
            case.host["rank"] = 0
        else:
            always_fails(case, draw.choice(need.split("|")))


def always_fails(case, faults):
    """Functions that always fail, on all ranks, such as "link:EPERM,rename:EIO"."""
    names = [fault.partition(":") for fault in faults.split(",")]
    case.environment["FAULT_ALSO"] = ",".join(f"{name}:{getattr(errno, error)}" for name, _, error in names)


def traced(draw, case):
    case.environment.update(EFFORT_TRACE="on", EFFORT_TRACE_MEMORY="262144", EFFORT_TRACE_PIN="0-7",
                            EFFORT_TRACE_DESIGN=draw.choice(["retrospective", "subset", "global"]))


# Microseconds from the beginning of a phase.
PHASES = {"init": 6000, "steps": 40000, "callback": 3000, "snapshot": 15000, "finalize": 15000}
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGXFSZ, signal.SIGPIPE, signal.SIGSTOP, signal.SIGKILL]


def signals(number, draw, case):
    """A signal arrives at a random moment of a phase."""
    placed(draw, case, [0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8], 1)
    sent = SIGNALS[number % len(SIGNALS)]
    phase = draw.choice(list(PHASES))
    case.host["signal"] = f"{int(sent)},{phase},{draw.randrange(PHASES[phase])}"
    case.signal = sent
    case.arrives = phase != "finalize"
    if phase == "snapshot":
        case.host["snapshot"] = draw.choice([10, 30])
    if sent == signal.SIGSTOP:
        case.host["continue"] = 300
        case.arrives = False
    elif sent != signal.SIGKILL and draw.random() < 0.5:
        case.host["handle"] = 1


def interrupted(number, draw, case):
    """A signal arrives in the middle of a call from the library to the C library."""
    placed(draw, case, [0, 0, 1, 2, 3, 6], 1)
    sent = SIGNALS[number % len(SIGNALS)]
    if sent == signal.SIGSTOP:
        sent = signal.SIGKILL
    # The last write is the report's, by a thread of the host.  The library withholds only signals that a write causes.
    # Without MPI, the process has no other thread that could take a signal.
    report = sent in (signal.SIGXFSZ, signal.SIGPIPE) and number % 4 > 1
    if report:
        case.ranks = 0
        case.host = {"snapshot": -1}  # as in the run whose calls are counted
    call = "write" if report else draw.choice(["any", *CALLS])
    preloaded(case, call, f"signal:{int(sent)}", 0.999 if report else draw.random())
    made(draw, case, call)
    case.signal = sent
    if report or (sent != signal.SIGKILL and draw.random() < 0.5):
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
        preloaded(case, draw.choice(["write", "fsync", "open"]), f"slow:{draw.choice([1000, 20000])}", 0, always=True)
        case.patience += 20
    else:
        case.environment.update(EFFORT_SNAPSHOT_DIR="/dev/null/snapshots", EFFORT_REPORT="/dev/null/report.txt")


# Gives the run a /dev without shm.
NO_SHM = ["mkdir $OUT/dev && mount -t tmpfs tmpfs $OUT/dev", "ln -s /proc/self/fd $OUT/dev/fd",
          "for name in null zero full random urandom tty; do touch $OUT/dev/$name; "
          "mount --bind /dev/$name $OUT/dev/$name; done", "mount --rbind $OUT/dev /dev"]


def shared_memory(number, draw, case):
    """/dev/shm is absent, read-only or tiny.  The library uses it where it gets no file without a name."""
    placed(draw, case, [2, 2, 3, 4, 5])
    size = [-1, 0, 4, 64, 256, 512, 800, 1024, 1536][number % 9]
    if draw.random() < 0.7:
        always_fails(case, "memfd_create:" + draw.choice(["ENOSYS", "EPERM", "EMFILE"]))
    # MPI keeps its own shared memory elsewhere.
    case.environment["OMPI_MCA_btl_vader_backing_directory"] = "$TMPDIR"
    if size < 0:
        case.mounts = NO_SHM
    elif size == 0:
        case.mounts = ["mount -t tmpfs tmpfs /dev/shm", "mount -o remount,ro /dev/shm"]
    else:
        case.mounts = [f"mount -t tmpfs -o size={size}k tmpfs /dev/shm"]


# Functions, the errors that they may return, and what makes the library call them: "trace", "ranks" (the first of
# several on a node), and functions that always fail; "|" separates alternatives.  tmpfile is open with O_TMPFILE.
CALLS = {
    "open": (["ENOSPC", "EIO", "EMFILE", "EACCES", "EINTR", "ENOENT"], ""),
    "tmpfile": (["ENOSPC", "EIO", "EOPNOTSUPP", "EISDIR", "EINTR"], ""),
    "fopen": (["ENOSPC", "EMFILE", "EACCES"], "trace"),
    "write": (["ENOSPC", "EIO", "EINTR", "EAGAIN", "EPIPE", "short"], ""),
    "read": (["EIO", "EINTR"], ""),
    "ftruncate": (["ENOSPC", "EINTR", "EIO"], ""),
    "posix_fallocate": (["ENOSPC", "EINTR", "EIO", "EOPNOTSUPP"], "ranks"),
    "mmap": (["ENOMEM", "EAGAIN", "ENODEV"], ""),
    "fsync": (["EIO", "ENOSPC", "EINTR", "EINVAL"], ""),
    "linkat": (["EPERM", "ENOSPC", "EIO", "ENOENT"], ""),
    "link": (["EPERM", "ENOSPC", "EIO", "EXDEV", "EMLINK"], "tmpfile:EOPNOTSUPP|linkat:EXDEV"),
    "renameat2": (["EIO", "ENOSPC", "EINVAL"], "tmpfile:EOPNOTSUPP,link:EPERM|linkat:EPERM,link:EMLINK"),
    "rename": (["EIO", "ENOSPC"], "tmpfile:EOPNOTSUPP,link:EPERM,renameat2:EINVAL"),
    "unlink": (["EIO", "EACCES"], "tmpfile:EISDIR|linkat:ENOENT"),
    "opendir": (["EMFILE", "EACCES", "ENOENT"], "ranks memfd_create:ENOSYS"),
    "memfd_create": (["EMFILE", "ENOSYS", "EPERM"], "ranks"),
    "pthread_create": (["EAGAIN"], ""),
    "mkdir": (["EACCES", "ENOSPC"], "trace"),
}


def calls(number, draw, case):
    """A call from the library to the C library fails, once or from then on."""
    placed(draw, case, [0, 0, 2, 3, 5])
    call = list(CALLS)[number % len(CALLS)]
    way = draw.choice(CALLS[call][0])
    what = "short" if way == "short" else f"errno:{getattr(errno, way)}"
    preloaded(case, call, what, draw.random(), draw.random() < 0.4 and way != "EINTR")
    made(draw, case, call)


def memory(number, draw, case):
    """An allocation fails, once or from then on: one of the first, or any."""
    placed(draw, case, [0, 0, 2, 3])
    share = draw.random()
    preloaded(case, "malloc", f"errno:{errno.ENOMEM}", share, draw.random() < 0.4, early=True)
    if number < 80:
        case.environment["FAULT_AT"] = str(1 + number // 2)


def adapter_memory(number, draw, case):
    """An allocation of the adapter or of the library behind it fails on one rank, mostly with all that follow.  Ranks
    find steps together, end them at collectives or at messages, and one without memory must not leave the others
    alone."""
    case.ranks = draw.choice([2, 2, 3])
    case.per_node = draw.choice([0, 1])
    case.adapter = True
    case.host["rank"] = draw.choice([0, case.ranks - 1])
    case.environment["EFFORT_STEP"] = ["auto", "MPI_Allreduce", "MPI_Sendrecv:2@fault_host"][number // 4 % 3]
    case.environment["EFFORT_COMM_MATRIX"] = draw.choice(["0", "1"])
    case.environment["EFFORT_COMM_WAITS"] = draw.choice(["0", "1"])
    share = 0.1 + 0.14 * number if number < 6 else draw.random()
    preloaded(case, "malloc", f"errno:{errno.ENOMEM}", share, draw.random() < 0.7 or number < 6)


def clocks(number, draw, case):
    """The clock jumps."""
    placed(draw, case, [0, 1, 2, 3])
    seconds = draw.choice([-1000000, -3600, -1, 1, 60, 3600, 1000000])
    preloaded(case, "clock_gettime", f"jump:{seconds}", draw.random(), always=draw.random() < 0.7, early=True)


def exits(number, draw, case):
    """The host ends in an unusual way (see host.c), and may have closed standard streams before."""
    placed(draw, case, [0, 0, 1, 2, 3])
    case.host["end"] = ["exit", "atexit", "thread", "quit"][number % 4]
    case.host["snapshot"] = draw.choice([59, 59, 30])
    if number // 4 % 2 == 0:
        case.host["close"] = draw.choice(["0", "1", "2", "01", "02", "12", "012"])


def stopped(number, draw, case, seconds=10):
    """The first rank of a node is stopped for a while."""
    placed(draw, case, [2, 3, 4, 5])
    phase = draw.choice(list(PHASES))
    case.host.update(rank=0, signal=f"{int(signal.SIGSTOP)},{phase},{draw.randrange(10000)}")
    case.host["continue"] = int(1000 * seconds)
    case.patience += seconds


WRONG = {"result": "result '", "exit": "ended with 3", "hang": "did not end", "caught": "handler was called",
         "outlives": "survived signal 15", "shm": "/dev/shm/effort-left is left", "tmp": "effort-left is left among",
         "file": ".a.part is left", "snapshot": "a.effort cannot be read", "ignores": "handler was called 0 times",
         "never": "shm_open was not called as often", "late": "it took"}


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
    if case.host["wrong"] == "ignores":
        preloaded(case, "write", f"signal:{int(signal.SIGTERM)}", 0.5)
        case.host["handle"] = 1
        case.signal = signal.SIGTERM
    if case.host["wrong"] == "never":
        preloaded(case, "shm_open", f"errno:{errno.EIO}", 0)


# Class: number of cases in the short and in the whole campaign.
CLASSES = {signals: (8, 240), interrupted: (6, 144), limits: (12, 120), files: (6, 60), shared_memory: (4, 45),
           calls: (18, 252), memory: (0, 160), adapter_memory: (6, 96), clocks: (4, 48), exits: (8, 64),
           stopped: (1, 6), wrong: (0, 0)}


def make(kind, number, seed, whole, trace=False):
    draw = random.Random(f"{kind.__name__}:{number}:{seed}")
    case = Case(f"{kind.__name__}:{number}")
    case.host["snapshot"] = draw.choice([-1, 10, 30])
    if kind is stopped:
        stopped(number, draw, case, 10 if whole else 1)
    else:
        kind(number, draw, case)
    if kind is not wrong and case.ranks > 0 and "FAULT_ALSO" not in case.environment and draw.random() < 0.2:
        case.adapter = True
    if kind is not wrong and (draw.random() < 0.5 or trace):
        traced(draw, case)
    if case.ranks > 3 and not whole:
        case.ranks = 3
        if "rank" in case.host:
            case.host["rank"] = 0
    return case
