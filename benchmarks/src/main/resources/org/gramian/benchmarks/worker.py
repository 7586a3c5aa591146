"""The Python side of the benchmarks: the same work in PyTorch, as a good user would write it.

Started as `worker.py head-training batch=32 ... device=cpu mode=python`. Says what it is in a line of JSON, then answers the
commands `check`, `run STEPS`, `trajectory STEPS`, `memory` and `quit` on standard input by one line of JSON each, and says
`unavailable` with the reason where something cannot be done. org.gramian.benchmarks.BenchWorker is the same program in Java; the
values both start from are those of org.gramian.benchmarks.SyntheticValues and InitialParameters.
"""

import ctypes
import json
import math
import os
import platform
import sys
import time

import torch
import torch.nn.functional as F


def pattern(start, end, seed):
    """Numbers that look random: a hash of the element's place, uniform in [-0.5, 0.5)."""
    x = torch.arange(start, end, dtype=torch.int64) + seed * 1000003
    x = (x * 0x9E3779B1) & 0xFFFFFFFF
    x ^= x >> 15
    x = (x * 0x85EBCA77) & 0xFFFFFFFF
    x ^= x >> 13
    return x.double() / 4294967296.0 - 0.5


def uniform(shape, seed, bound, device):
    """A tensor uniform in [-bound, bound), made in parts so that it takes no more memory than it needs."""
    result = torch.empty(math.prod(shape))
    part = 1 << 20
    for start in range(0, len(result), part):
        end = min(len(result), start + part)
        result[start:end] = (pattern(start, end, seed) * (2 * bound)).float()
    return result.reshape(shape).to(device)


def orthonormal(size, seed, device):
    """A reflection with some columns negated."""
    v = pattern(0, size, seed)
    reflection = torch.eye(size, dtype=torch.float64) - 2 * torch.outer(v, v) / v.dot(v)
    signs = torch.where(pattern(0, size, seed + 1) < 0, -1.0, 1.0)
    return (reflection * signs).float().to(device)


def norm(tensor):
    return tensor.detach().pow(2).sum().sqrt().item()


# the mode of torch.compile by the name of the side; the last two capture CUDA graphs
COMPILERS = {"python-compiled": None, "python-graphs": "reduce-overhead", "python-max-autotune": "max-autotune"}
CUDA_GRAPHS = ("python-graphs", "python-max-autotune")


class Unavailable(Exception):
    """What cannot be done here; the message stands in the table instead of numbers."""


class Convolution(torch.nn.Module):
    """A convolution and ReLU; in bfloat16 if it is given such maps, with its own parameters in single precision."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)
        self.padding = weight.shape[2] // 2

    def forward(self, x):
        return F.conv2d(x, self.weight.to(x.dtype), self.bias.to(x.dtype), padding=self.padding).relu()


class Kernel(torch.nn.Module):
    """The Gaussian kernel matrix over maps, with the mean distance as width."""

    JITTER = 1e-4

    def forward(self, x):
        maps = x.flatten(2)
        maps = maps - maps.mean(1, keepdim=True)
        s = maps.pow(2).sum(2)
        d = torch.baddbmm(s[:, :, None] + s[:, None, :], maps, maps.transpose(1, 2), alpha=-2).relu()
        with torch.no_grad():
            c = maps.shape[1]
            distances = d.sqrt()
            distances.diagonal(dim1=1, dim2=2).zero_()
            sigma = (distances.sum((1, 2), keepdim=True) / (c * (c - 1))).clamp_min(1e-6)
            factor = -0.5 / sigma.square()
        k = torch.exp(d * factor)
        return k + self.JITTER * torch.eye(k.shape[1], device=k.device)


class Spd(torch.nn.Module):
    def __init__(self, w):
        super().__init__()
        self.w = torch.nn.Parameter(w)

    def forward(self, k):
        return self.w.t() @ (k @ self.w)


class Triangle(torch.nn.Module):
    """The upper triangle, elements off the diagonal by the root of 2."""

    def __init__(self, size, device):
        super().__init__()
        rows, columns = torch.triu_indices(size, size)
        self.register_buffer("upper", (rows * size + columns).to(device))
        self.register_buffer("factors", torch.where(rows == columns, 1.0, math.sqrt(2)).to(device))

    def forward(self, y):
        return y.flatten(1).index_select(1, self.upper) * self.factors


class Root(torch.nn.Module):
    EPSILON = 1e-5

    def forward(self, v):
        return v / ((v.abs() + self.EPSILON).sqrt() + math.sqrt(self.EPSILON))


class Unit(torch.nn.Module):
    def forward(self, v):
        return F.normalize(v)


class Average(torch.nn.Module):
    def forward(self, x):
        return x.flatten(2).mean(2)


class Model(torch.nn.Module):
    """A network, a head, or both. Parameters by the names that Gramian gives them."""

    NETWORKS = {"vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}
    WIDTHS = (64, 128, 256, 512, 512)

    def __init__(self, name, spec, device):
        super().__init__()
        self.device, self.named, self.stiefel = device, {}, []
        self.bf16 = spec["precision"] == "bf16"
        stages, channels = [], int(spec["channels"])
        self.has_backbone = not name.startswith("head")
        self.has_head = not name.startswith("backbone")
        if self.has_backbone:
            self.backbone = torch.nn.Sequential(*self.network(spec["backbone"]))
            channels = self.WIDTHS[-1]
        if self.has_head:
            stages, length = self.pooling(spec["pooling"], channels)
            fc = torch.nn.Linear(length, int(spec["classes"]), device=device)
            with torch.no_grad():
                fc.weight.copy_(uniform(tuple(fc.weight.shape), 3, 0.1, device))
                fc.bias.zero_()
            self.named |= {"classifier.weight": fc.weight, "classifier.bias": fc.bias}
            self.head = torch.nn.Sequential(*stages, fc)

    def convolution(self, name, shape, seed, bias):
        weight = uniform(shape, seed, math.sqrt(6 / math.prod(shape[1:])), self.device)
        if self.bf16:
            weight = weight.contiguous(memory_format=torch.channels_last)
        made = Convolution(weight, torch.full((shape[0],), bias, device=self.device))
        self.named |= {name + ".weight": made.weight, name + ".bias": made.bias}
        return made

    def network(self, name):
        if name not in self.NETWORKS:
            raise Unavailable(f"worker.py has {' and '.join(self.NETWORKS)}, not {name}")
        entering, seed, stages = 3, 10, []
        for group, count in enumerate(self.NETWORKS[name]):
            if group:
                stages.append(torch.nn.MaxPool2d(2))
            for i in range(count):
                leaving = self.WIDTHS[group]
                stages.append(self.convolution(f"conv{group + 1}_{i + 1}", (leaving, entering, 3, 3), seed, 0.0))
                entering, seed = leaving, seed + 1
        return stages

    def pooling(self, text, channels):
        """The modules of a pooling's text, and the length of what leaves them."""
        stages, size = [], channels
        for stage in text.split("/"):
            word, _, argument = stage.partition(":")
            if word == "conv" and argument.isdigit():
                stages.append(self.convolution("pooling.conv", (int(argument), size, 1, 1), 2, 0.2))
                size = int(argument)
            elif word == "spd" and argument.isdigit():
                stages.append(Spd(orthonormal(size, 4, self.device)[:, : int(argument)].contiguous()))
                self.named[f"pooling.spd{len(self.stiefel)}.weight"] = stages[-1].w
                self.stiefel.append(stages[-1].w)
                size = int(argument)
            elif stage == "triu":
                stages.append(Triangle(size, self.device))
                size = size * (size + 1) // 2
            elif stage in ("rbf", "relu", "root", "l2", "average"):
                stages.append({"rbf": Kernel, "relu": torch.nn.ReLU, "root": Root, "l2": Unit, "average": Average}[stage]())
            else:
                raise Unavailable(f"worker.py has conv:N, rbf, spd:N, relu, triu, root, l2 and average, not '{stage}'")
        return stages, size

    def forward(self, x):
        if self.has_backbone:
            x = self.backbone(x.bfloat16() if self.bf16 else x).float()
        return self.head(x) if self.has_head else x


class Task:
    def __init__(self, name, spec, device):
        self.model = Model(name, spec, device)
        n, side = int(spec["batch"]), int(spec["pixels" if self.model.has_backbone else "side"])
        channels = 3 if self.model.has_backbone else int(spec["channels"])
        self.x = uniform((n, channels, side, side), 1, 1, device)
        if self.model.bf16:
            self.x = self.x.contiguous(memory_format=torch.channels_last)
        self.labels = (torch.arange(n) % int(spec["classes"])).to(device)
        self.compiled, self.graphs = spec["mode"] in COMPILERS, spec["mode"] in CUDA_GRAPHS
        self.compiler = COMPILERS.get(spec["mode"])
        if self.graphs:  # the input stays where it is, so that a replay need not copy it
            torch._dynamo.mark_static_address(self.x)
            torch._dynamo.mark_static_address(self.labels)

    def faster(self, function):
        if not self.compiled:
            return function
        compiled = torch.compile(function, fullgraph=True, dynamic=False, mode=self.compiler)
        return self.replayed(compiled) if self.graphs else compiled

    @staticmethod
    def replayed(compiled):
        """Marks each call as a new step, in which the CUDA graphs may overwrite the results of the step before."""

        def step(*inputs):
            torch.compiler.cudagraph_mark_step_begin()
            return compiled(*inputs)

        return step

    def require_graphs(self):
        """A number without CUDA graphs must not stand under their name."""
        skipped = torch._dynamo.utils.counters["inductor"]["cudagraph_skips"] if self.graphs else 0
        if skipped:
            raise Unavailable(f"torch.compile skipped {skipped} CUDA graphs; TORCH_LOGS=perf_hints shows why")


class Training(Task):
    """Forward, backward, SGD with momentum, Riemannian SGD on W; of a network alone without the last two."""

    RATE, MOMENTUM, DECAY, STIEFEL_RATE, BACKBONE_RATE = 0.1, 0.9, 5e-4, 1e-2, 1e-3

    def __init__(self, name, spec, device):
        super().__init__(name, spec, device)
        self.leaves = dict(self.model.named)
        if not self.model.has_backbone:
            self.leaves["features"] = self.x.requires_grad_()
        self.velocities = [None] * len(self.model.stiefel)
        groups = {}
        for key, leaf in self.model.named.items():
            if not key.startswith("pooling.spd"):
                backbone = not key.startswith(("pooling.", "classifier."))
                rate, decay = self.BACKBONE_RATE if backbone else self.RATE, self.DECAY * key.endswith("weight")
                groups.setdefault((rate, decay), []).append(leaf)
        groups = [{"params": leaves, "lr": rate, "weight_decay": decay} for (rate, decay), leaves in groups.items()]
        fused = {"fused": True} if self.graphs else {}
        self.sgd = torch.optim.SGD(groups, lr=self.RATE, momentum=self.MOMENTUM, **fused) if self.model.has_head else None
        self.compute = self.faster(self.loss)

    def loss(self):
        output = self.model(self.x)
        return F.cross_entropy(output, self.labels) if self.model.has_head else output.mean()

    @torch.no_grad()
    def riemannian_step(self):
        for i, w in enumerate(self.model.stiefel):
            direction = w.grad - w @ (w.grad.t() @ w)
            if self.velocities[i] is not None:
                wz = w.t() @ self.velocities[i]
                direction.add_(self.velocities[i] - w @ ((wz + wz.t()) / 2), alpha=self.MOMENTUM)
            self.velocities[i] = direction
            w.copy_(self.q_factor(w - self.STIEFEL_RATE * direction))

    def q_factor(self, a):
        """The Q of a = QR with a positive diagonal of R: by Householder reflections, with CUDA graphs by Cholesky."""
        if not self.graphs:
            q, r = torch.linalg.qr(a)
            return q * r.diagonal().sign()
        products = torch.backends.cuda.matmul
        tf32, products.allow_tf32 = products.allow_tf32, False  # Q is as orthonormal as the product is exact
        l = torch.linalg.cholesky_ex(a.t() @ a)[0]
        q = torch.linalg.solve_triangular(l, a.t(), upper=False).t()
        products.allow_tf32 = tf32
        return q

    def gradients(self):
        for leaf in self.leaves.values():
            leaf.grad = None
        loss = self.compute()
        loss.backward()
        return loss

    def run(self):
        loss = self.gradients()
        if self.sgd:
            self.sgd.step()
            self.riemannian_step()
        return loss

    def trajectory(self, steps):
        return [self.run().item() for _ in range(steps)]

    def check(self):
        self.gradients()
        values = {f"|gradient of {key}|": norm(leaf.grad) for key, leaf in self.leaves.items()}
        start = {key: leaf.detach().clone() for key, leaf in self.model.named.items()}
        values["loss"] = self.run().item()
        if self.sgd:
            values |= {f"|update of {key}|": norm(leaf - start[key]) for key, leaf in self.model.named.items()}
        values["loss of step 3"] = self.trajectory(2)[-1]
        self.require_graphs()
        return values


class Forward(Task):
    """Forward, with parameters that were brought to their precision before."""

    def __init__(self, name, spec, device):
        super().__init__(name, spec, device)
        self.model.requires_grad_(False)
        if self.model.bf16 and self.model.has_backbone:
            self.model.backbone.bfloat16()
        self.compute = self.faster(self.model)

    def run(self):
        # compiled code is the same under both, and no_grad is what all versions compile
        with torch.no_grad() if self.compiled else torch.inference_mode():
            return self.compute(self.x)

    def check(self):
        output = self.run()
        self.require_graphs()
        return {"|output|": norm(output), "|output of the first image|": norm(output[:1])}


class GpuMemory:
    """The growth of the GPU's memory in use while this process works, summed up, as in org.gramian.benchmarks.BenchWorker."""

    def __init__(self, device):
        self.device, self.own, self.peak = device, 0, 0
        if device.type == "cuda":
            torch.zeros(1, device=device)

    def in_use(self):
        if self.device.type != "cuda":
            return 0
        free, total = torch.cuda.mem_get_info(self.device)
        return total - free

    def during(self, work):
        before = self.in_use()
        result = work()
        self.own += self.in_use() - before
        self.peak = max(self.peak, self.own)
        return result


def loaded_blas():
    """The BLAS libraries in this process, where the system tells."""
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            files = {line.split()[-1] for line in maps if "/" in line}
    except OSError:
        return []
    return sorted(f for f in files if "blas" in os.path.basename(f) or "libmkl" in os.path.basename(f))


def openblas_core():
    """The processor that OpenBLAS takes this one for, empty where another BLAS is at work."""
    for file in loaded_blas():
        if "openblas" in os.path.basename(file):
            try:
                name = ctypes.CDLL(file).openblas_get_corename
            except (OSError, AttributeError):
                continue
            name.restype = ctypes.c_char_p
            return name().decode()
    return ""


def use_modern_openblas():
    """Starts over where OpenBLAS is older than the processor and took it for the oldest: that is five times as slow."""
    if openblas_core() == "Prescott" and "OPENBLAS_CORETYPE" not in os.environ:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            flags = next((line.split() for line in info if line.startswith("flags")), [])
        core = "SKYLAKEX" if "avx512vl" in flags else "HASWELL" if "avx2" in flags else None
        if core:
            os.environ["OPENBLAS_CORETYPE"] = core
            os.execv(sys.executable, [sys.executable] + sys.argv)


def say(answer):
    print(json.dumps(answer), flush=True)


def seconds(task, steps, device):
    """Seconds of one step, when so many are taken between two waits for the device."""
    synchronize(device)
    start = time.perf_counter()
    for _ in range(steps):
        task.run()
    synchronize(device)
    return (time.perf_counter() - start) / steps


def synchronize(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def prepare(spec):
    """The settings of a good user, and the device."""
    device = torch.device(spec["device"])
    if device.type == "cuda" and not torch.cuda.is_available():
        raise Unavailable("this Python's torch sees no CUDA device")
    if spec["mode"] in COMPILERS and not hasattr(torch, "compile"):
        raise Unavailable(f"torch {torch.__version__} has no torch.compile")
    torch.set_num_threads(int(spec["threads"]))
    if platform.machine() == "aarch64":
        # its backward is slow there; OpenBLAS is this torch's best configuration
        torch.backends.mkldnn.enabled = False
    fast = spec["precision"] != "f32"
    torch.backends.cudnn.allow_tf32 = fast
    torch.backends.cuda.matmul.allow_tf32 = fast
    torch.backends.cudnn.benchmark = True
    return device


def about(device):
    core = openblas_core()
    return {
        "torch": torch.__version__,
        "runtime": "Python " + platform.python_version(),
        "threads": str(torch.get_num_threads()),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "mkldnn": "on" if torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled else "off",
        "blas": " ".join(os.path.basename(f) for f in loaded_blas()) + (f" ({core} kernels)" if core else ""),
    }


def serve():
    name, spec = sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])
    device = prepare(spec)
    memory = GpuMemory(device)
    kind = Training if name.endswith("-training") else Forward
    task = memory.during(lambda: kind(name, spec, device))
    say(about(device))
    for line in sys.stdin:
        command, _, steps = line.strip().partition(" ")
        if command == "check":
            say(memory.during(task.check))
        elif command == "run":
            say({"seconds": memory.during(lambda: seconds(task, int(steps), device))})
        elif command == "trajectory":
            say({"losses": memory.during(lambda: task.trajectory(int(steps)))})
        elif command == "memory":
            say({"gpu": memory.peak} if device.type == "cuda" else {})
        else:
            return


def main():
    use_modern_openblas()
    try:
        serve()
    except Exception as failed:  # whatever it is, the table says so instead of a number
        lines = [line.strip() for line in str(failed).splitlines() if line.strip()]
        kind = "" if isinstance(failed, Unavailable) else type(failed).__name__ + ": "
        say({"unavailable": kind + " ".join(lines[:3])[:300]})


main()
