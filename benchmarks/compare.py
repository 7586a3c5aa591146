"""Times Gramian against PyTorch, each side in a process of its own, in turns; started by benchmarks/compare.

Workers are org.gramian.benchmarks.Worker and worker.py. Each gets a task as JSON and executes commands from its standard input. Sides are
timed only if their losses and gradients agree.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

WORKLOADS = [f"{part}-{kind}" for part in ("head", "network", "backbone") for kind in ("forward", "training")]
GRAPHS = ["python-graphs", "python-max-autotune"]
SIDES = ["python", "python-compiled", *GRAPHS]
TOLERANCES = {"f32": 1e-3, "tf32": 1e-2, "bf16": 5e-2}

MIN_SECONDS = 0.03  # of a timing: kernel launches are asynchronous, so only many steps show the cost of one
LONG_STEP_SECONDS = 2  # steps that take longer need no untimed step before
WARM_UP_SECONDS = 3  # of a side at least: Java compiles what runs often, after hundreds of steps
MAX_STEPS = 1000
PAUSE_SECONDS = 0.2  # in which the spinning threads of the previous side go to sleep


class Unavailable(Exception):
    """A side cannot do its task; the table shows the message."""


class Worker:
    """A worker process and its answers, one line of JSON each."""

    def __init__(self, command, threads):
        # read by OpenMP and BLAS libraries when they are loaded
        variables = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | variables, text=True, encoding="utf-8"
            )
        except OSError as failed:
            raise Unavailable(f"{command[0]} cannot be started: {failed}") from failed
        try:
            self.version = self.answer()["version"]
        except Unavailable:
            self.close()
            raise

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):  # libraries may print other lines
                answer = json.loads(line)
                if "unavailable" in answer:
                    raise Unavailable(answer["unavailable"])
                return answer
        raise Unavailable("the worker ended without an answer; its message is above")

    def request(self, command):
        try:
            print(command, file=self.process.stdin, flush=True)
        except OSError as gone:
            raise Unavailable("the worker has ended") from gone
        return self.answer()

    def run(self, steps):
        """Seconds per step, measured in the worker."""
        return self.request(f"run {steps}")["seconds"]

    def peak_memory(self):
        """Bytes, of the GPU if used, otherwise of the process; None if unknown."""
        answer = self.request("memory")
        if "gpu" in answer:
            return answer["gpu"]
        try:
            lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)

    def close(self):
        try:
            self.process.communicate("quit\n", timeout=10)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            self.process.kill()


def tolerance(task, value=""):
    """Relative tolerance of a value.

    Gradients before the classifier of a network with random weights depend on rounding, since its feature maps are so similar that the
    distances of the kernel cancel: those of VGG-16 and head differed by 0.13 between two versions of PyTorch, and by up to 0.28 with
    bfloat16 maps, those of EfficientNet-Lite4 alone by 0.065 with bfloat16 maps. The wider tolerance detects a missing gradient.
    """
    rounded = task["precision"] == "bf16"
    gradient = value.startswith(("|gradient of ", "|update of ")) and " classifier." not in value
    if task["workload"] == "network-training" and gradient:
        return 0.5 if rounded else 0.25
    if task["workload"] == "backbone-training" and rounded:
        return 0.2
    return TOLERANCES[task["precision"]]


def difference(a, b):
    """Relative difference; infinite if a value is not a number."""
    found = 0 if a == b else abs(a - b) / max(abs(a), abs(b))
    return math.inf if math.isnan(found) else found


class Measurement:
    """One task: compares the values of the sides, warms up, and times them in turns A B C, C B A, A B C, ..."""

    def __init__(self, task, options):
        self.task, self.options = task, options
        self.title = f"{task['workload']}, batch {task['batch']}, {task['precision']}"
        self.workers, self.remarks, self.differing = {}, {}, set()

    def say(self, text):
        print(f"{self.title}: {text}", file=sys.stderr, flush=True)

    def start(self, side):
        task = json.dumps(self.task)
        flags = ["--enable-native-access=ALL-UNNAMED", "-Dslf4j.internal.verbosity=ERROR", "-cp", self.options.class_path]
        java = [self.options.java, *flags, "org.gramian.benchmarks.Worker", task]
        python = [self.options.python, str(pathlib.Path(__file__).with_name("worker.py")), task, side]
        return Worker(java if side == "gramian" else python, self.options.threads)

    def results(self):
        sides = ["gramian", *self.options.sides]
        try:
            self.say("starting " + ", ".join(sides))
            for side in sides:
                self.attempt(side, lambda side=side: self.workers.update({side: self.start(side)}))
            self.say("comparing values; compilation may take minutes")
            self.compare()
            seconds = self.time()
            if self.options.trajectory and self.task["workload"] in ("head-training", "network-training"):
                for other in list(self.workers)[1:2]:
                    self.compare_losses(other)
            return [self.result(side, seconds) for side in sides]
        finally:
            for worker in self.workers.values():
                worker.close()

    def result(self, side, seconds):
        worker, times = self.workers.get(side), seconds.get(side, [])
        return {
            **self.task,
            "title": self.title,
            "side": side,
            "seconds": times if worker else [],
            "median": statistics.median(times) if worker and times else None,
            "peakMemory": worker.peak_memory() if worker else None,
            "version": worker.version if worker else None,
            "remark": self.remarks.get(side, ""),
            "differs": side in self.differing,
        }

    def attempt(self, side, work):
        """Runs work; a side other than Gramian may fail and is reported as not measured."""
        try:
            return work()
        except Unavailable as failed:
            if side == "gramian":
                raise
            self.drop(side, str(failed))

    def drop(self, side, reason):
        self.say(f"{side} is not measured: {reason}")
        self.remarks[side] = "not measured: " + reason
        worker = self.workers.pop(side, None)
        if worker:
            worker.close()

    def compare(self):
        expected = self.workers["gramian"].request("check")
        for side in list(self.workers)[1:]:
            found = self.attempt(side, lambda side=side: self.workers[side].request("check"))
            if found is not None:
                self.compare_values(side, expected, found)

    def compare_values(self, side, expected, found):
        if expected.keys() != found.keys():
            raise SystemExit(f"expected the same values from both sides, found {list(expected)} and {list(found)}")
        differences = {name: difference(expected[name], found[name]) for name in expected}
        wrong = [name for name in differences if not differences[name] <= tolerance(self.task, name)]
        if wrong:
            self.differing.add(side)
            self.drop(side, f"{wrong[0]} differs by {differences[wrong[0]]:.1e} (tolerance {tolerance(self.task, wrong[0]):.0e})")
        else:
            worst = max(differences, key=differences.get)
            self.remarks[side] = f"{len(found)} values agree to {differences[worst]:.1e} ({worst})"

    def compare_losses(self, other):
        """Compares the losses of training steps of new workers."""
        losses = []
        for side in ("gramian", other):
            worker = self.start(side)
            losses.append(worker.request(f"losses {self.options.trajectory}")["losses"])
            worker.close()
        largest = max(map(difference, *losses))
        text = f"losses of {len(losses[0])} steps from {losses[0][0]:.4f} to {losses[0][-1]:.4f} differ by at most {largest:.1e}"
        self.remarks[other] += f"; {text} (tolerance {tolerance(self.task):.0e})"
        self.say(text)

    def time(self):
        steps, fastest = 1, MIN_SECONDS
        for number in range(max(1, self.options.warmup)):  # one at least, to find out how many steps fit
            fastest = min(self.round(number, steps, fastest).values())
            steps = min(MAX_STEPS, math.ceil(MIN_SECONDS / fastest))
        more = int(min(MAX_STEPS, WARM_UP_SECONDS / fastest)) - self.options.warmup * steps
        if self.options.warmup and more > 0:
            for side, worker in list(self.workers.items()):
                self.attempt(side, lambda worker=worker: worker.run(more))
        seconds = {}
        for number in range(self.options.repeat):
            times = self.round(number, steps, fastest)
            for side, taken in times.items():
                seconds.setdefault(side, []).append(taken)
            self.say(f"{number + 1}/{self.options.repeat}  " + "  ".join(f"{side} {text(taken)}" for side, taken in times.items()))
        return seconds

    def round(self, number, steps, fastest):
        times = {}
        for side, worker in list(self.workers.items())[:: -1 if number % 2 else 1]:
            time.sleep(PAUSE_SECONDS)
            if fastest < LONG_STEP_SECONDS:
                self.attempt(side, lambda worker=worker: worker.run(1))  # refills caches after another side
            taken = self.attempt(side, lambda worker=worker: worker.run(steps))
            if taken is not None:
                times[side] = taken
        return times


def text(seconds):
    if seconds >= 1:
        return f"{seconds:.3f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e3:.4f} ms"


def table(results):
    yield "| workload | side | median | img/s | peak memory | speed-up | remark |"
    yield "|---|---|---:|---:|---:|---:|---|"
    gramian = None
    for result in results:
        median, memory = result["median"], result["peakMemory"]
        gramian = median if result["side"] == "gramian" else gramian
        speed_up = f"{median / gramian:.2f}×" if median and result["side"] != "gramian" else "–"
        cells = [result["title"], result["side"], text(median) if median else "–", f"{result['batch'] / median:.0f}" if median else "–"]
        cells += [f"{memory >> 20} MiB" if memory else "–", speed_up, result["remark"].replace("|", "\\|")]
        yield "| " + " | ".join(cells) + " |"


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.split(":")[1].strip() for line in lines if line.startswith(("model name", "CPU part"))), platform.processor())


def parse(arguments):
    def numbers(words):
        return [int(word) for word in words.split(",")]

    def words(known):
        def parsed(joined):
            unknown = [word for word in joined.split(",") if word not in known]
            if unknown:
                raise argparse.ArgumentTypeError(f"unknown {unknown[0]}; expected some of {', '.join(known)}")
            return joined.split(",")

        return parsed

    parser = argparse.ArgumentParser(prog="benchmarks/compare", description=__doc__.splitlines()[0])
    add = parser.add_argument
    groups = ["head", "network", "backbone"]
    add("--only", type=words(groups + WORKLOADS), default=groups[:2], help="head, network (a backbone with its head), backbone, each also with -forward or -training (default: head,network)")
    add("--batch", type=numbers, help="batch sizes (default: 32; networks on the CPU: 8)")
    add("--precision", type=words(list(TOLERANCES)), help="f32, tf32 (GPU), bf16 (backbones) (default: f32; on a GPU all)")
    add("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    add("--threads", type=int, default=os.cpu_count(), help="threads of each side (default: all cores)")
    add("--pooling", default="conv:512/rbf/spd:512/relu/triu/root/l2", help="of the head; for PyTorch average, or conv, rbf, spd, relu, triu, root, l2 (default: %(default)s)")
    add("--backbone", default="vgg16", help="built in or imported; for PyTorch vgg16, vgg19, resnet50, efficientnet-lite4, vit-s16, vit-b16, squeezenet (default: %(default)s)")
    add("--channels", type=int, default=512, help="of the feature maps of a head (default: %(default)s)")
    add("--side", type=int, default=14, help="height and width of these feature maps (default: %(default)s)")
    add("--pixels", type=int, default=224, help="height and width of the images (default: %(default)s)")
    add("--classes", type=int, default=47, help="(default: %(default)s)")
    add("--sides", type=words(SIDES + ["none"]), default=["python"], help="PyTorch: python (eager), python-compiled (torch.compile), python-graphs (CUDA graphs, fused SGD, Cholesky QR), python-max-autotune; none (default: python)")
    add("--python", default=sys.executable, help="a Python with torch (default: GRAMIAN_PYTHON, or python3)")
    add("--repeat", type=int, default=7, help="timed rounds (default: %(default)s)")
    add("--warmup", type=int, default=2, help="rounds before (default: %(default)s); short steps run for 3 s more")
    add("--trajectory", type=int, default=0, metavar="STEPS", help="also compare the losses of so many training steps")
    add("--json", metavar="FILE", help="write all timings")
    add("--java", required=True, help=argparse.SUPPRESS)
    add("--class-path", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.sides = [side for side in options.sides if side != "none"]
    cuda = options.device.startswith("cuda")
    options.precision = options.precision or (list(TOLERANCES) if cuda else ["f32"])
    if not cuda and (set(options.sides) & set(GRAPHS) or "tf32" in options.precision):
        parser.error("CUDA graphs and tf32 need --device cuda; on the CPU use python or python-compiled, f32 or bf16")
    if options.repeat < 1 or min([options.threads, *(options.batch or [1])]) < 1:
        parser.error("--repeat, --threads and --batch must be at least 1")
    fields = {key: getattr(options, key) for key in ("device", "threads", "pooling", "backbone", "channels", "side", "pixels", "classes")}
    options.tasks = [
        {"workload": workload, "batch": batch, "precision": precision, **fields}
        for workload in WORKLOADS
        if workload in options.only or workload.split("-")[0] in options.only
        for batch in options.batch or [32 if cuda or workload.startswith("head") else 8]
        for precision in options.precision
        if precision != "bf16" or not workload.startswith("head")  # heads compute in float32
    ]
    if not options.tasks:
        parser.error("nothing to measure: bf16 applies to backbones; use f32 or tf32 for a head")
    return options


def main():
    options = parse(sys.argv[1:])
    results = []
    for task in options.tasks:
        try:
            results += Measurement(task, options).results()
        except Unavailable as failed:
            sys.exit(f"benchmarks/compare: gramian: {failed}")
        if options.json:  # after each task, so that an interrupted run keeps the finished ones
            pathlib.Path(options.json).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(*table(results), "", sep="\n")
    print(*dict.fromkeys(result["version"] for result in results if result["version"]), sep="\n")
    print(f"{platform.system()} {platform.machine()}, {processor()}, {options.device}, {options.threads} threads, medians of {options.repeat}")
    return any(result["differs"] for result in results)


if __name__ == "__main__":
    sys.exit(main())
