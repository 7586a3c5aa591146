"""The Python side of the benchmarks: the same work in PyTorch, as a good user would write it.

Started as `worker.py head batch=32 channels=512 ... threads=2 device=cpu`. Says what it is in a line of JSON, then answers
the commands `check`, `run` and `quit` on standard input by one line of JSON each. org.gramian.benchmarks.Worker is the
same program in Java; the numbers both begin with are those of org.gramian.benchmarks.Pattern.
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


class Head:
    """conv:C/rbf/spd:C/relu/triu/root/l2, a linear classifier, SGD with momentum and Riemannian SGD on W."""

    RATE, MOMENTUM, DECAY, STIEFEL_RATE = 0.1, 0.9, 5e-4, 1e-2
    JITTER, ROOT_EPSILON = 1e-4, 1e-5

    def __init__(self, spec, device):
        n, c, side, classes = (int(spec[k]) for k in ("batch", "channels", "side", "classes"))
        self.x = uniform((n, c, side, side), 1, 1, device).requires_grad_()
        self.labels = (torch.arange(n) % classes).to(device)
        rows, columns = torch.triu_indices(c, c)
        self.upper = (rows * c + columns).to(device)
        self.factors = torch.where(rows == columns, 1.0, math.sqrt(2)).to(device)
        self.conv_weight = uniform((c, c, 1, 1), 2, math.sqrt(6 / c), device).requires_grad_()
        self.conv_bias = torch.full((c,), 0.2, device=device).requires_grad_()
        self.w = orthonormal(c, 4, device).requires_grad_()
        self.fc_weight = uniform((classes, len(self.upper)), 3, 0.1, device).requires_grad_()
        self.fc_bias = torch.zeros(classes, device=device).requires_grad_()
        self.velocity = None
        groups = [
            {"params": [self.conv_weight, self.fc_weight], "weight_decay": self.DECAY},
            {"params": [self.conv_bias, self.fc_bias]},
        ]
        self.sgd = torch.optim.SGD(groups, lr=self.RATE, momentum=self.MOMENTUM)

    def kernel(self, maps):
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

    def loss(self):
        maps = F.conv2d(self.x, self.conv_weight, self.conv_bias).relu().flatten(2)
        y = self.w.t() @ (self.kernel(maps) @ self.w)
        v = y.relu().flatten(1).index_select(1, self.upper) * self.factors
        v = v / ((v.abs() + self.ROOT_EPSILON).sqrt() + math.sqrt(self.ROOT_EPSILON))
        scores = F.linear(F.normalize(v), self.fc_weight, self.fc_bias)
        return F.cross_entropy(scores, self.labels)

    @torch.no_grad()
    def riemannian_step(self):
        w, g = self.w, self.w.grad
        direction = g - w @ (g.t() @ w)
        if self.velocity is not None:
            wz = w.t() @ self.velocity
            direction.add_(self.velocity - w @ ((wz + wz.t()) / 2), alpha=self.MOMENTUM)
        self.velocity = direction
        q, r = torch.linalg.qr(w - self.STIEFEL_RATE * direction)
        self.w.copy_(q * r.diagonal().sign())

    def gradients(self):
        leaves = [self.x, self.conv_weight, self.conv_bias, self.w, self.fc_weight, self.fc_bias]
        for leaf in leaves:
            leaf.grad = None
        loss = self.loss()
        loss.backward()
        return loss, leaves

    def run(self):
        loss, _ = self.gradients()
        self.sgd.step()
        self.riemannian_step()
        return loss.item()

    def check(self):
        start = self.w.detach().clone()
        loss, leaves = self.gradients()
        values = {"loss": loss.item()}
        names = ["features", "conv.weight", "conv.bias", "spd0.weight", "fc.weight", "fc.bias"]
        for name, leaf in zip(names, leaves):
            values["|gradient of " + name + "|"] = norm(leaf.grad)
        self.sgd.step()
        self.riemannian_step()
        self.run()
        values["loss of step 3"] = self.run()
        values["|way of spd0.weight in 3 steps|"] = norm(self.w - start)
        return values


class Vgg:
    """VGG-16 from conv1_1 to conv5_3."""

    LAYERS = [1, 1, 0, 2, 2, 0, 4, 4, 4, 0, 8, 8, 8, 0, 8, 8, 8]

    def __init__(self, spec, device):
        n, width, side = (int(spec[k]) for k in ("batch", "width", "side"))
        self.x = uniform((n, 3, side, side), 1, 1, device)
        self.weights, self.biases = [], []
        entering = 3
        for leaving in (multiple * width for multiple in self.LAYERS if multiple):
            seed = 10 + len(self.weights)
            bound = math.sqrt(6 / (9 * entering))
            self.weights.append(uniform((leaving, entering, 3, 3), seed, bound, device).requires_grad_())
            self.biases.append(uniform((leaving,), seed + 20, 0.1, device).requires_grad_())
            entering = leaving

    def forward(self):
        x, parameters = self.x, zip(self.weights, self.biases)
        for multiple in self.LAYERS:
            x = F.conv2d(x, *next(parameters), padding=1).relu_() if multiple else F.max_pool2d(x, 2)
        return x


class VggForward(Vgg):
    @torch.inference_mode()
    def run(self):
        return self.forward()

    @torch.inference_mode()
    def check(self):
        maps = self.forward()
        return {"mean": maps.mean().item(), "|output|": norm(maps)}


class VggTraining(Vgg):
    def run(self):
        for leaf in self.weights + self.biases:
            leaf.grad = None
        mean = self.forward().mean()
        mean.backward()
        return mean.item()

    def check(self):
        values = {"mean": self.run()}
        for layer in range(0, len(self.weights), 4):
            values[f"|gradient of weight {layer}|"] = norm(self.weights[layer].grad)
            values[f"|gradient of bias {layer}|"] = norm(self.biases[layer].grad)
        return values


TASKS = {"head": Head, "vgg-forward": VggForward, "vgg-training": VggTraining}


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


def main():
    use_modern_openblas()
    spec = dict(word.split("=", 1) for word in sys.argv[2:])
    device = torch.device(spec["device"])
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SystemExit("this Python's torch sees no CUDA device")
    torch.set_num_threads(int(spec["threads"]))
    if platform.machine() == "aarch64":
        # its backward is slow there; OpenBLAS is this torch's best configuration
        torch.backends.mkldnn.enabled = False
    # both sides compute in full single precision
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    task = TASKS[sys.argv[1]](spec, device)
    core = openblas_core()
    say({
        "torch": torch.__version__,
        "runtime": "Python " + platform.python_version(),
        "threads": str(torch.get_num_threads()),
        "mkldnn": "on" if torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled else "off",
        "blas": " ".join(os.path.basename(f) for f in loaded_blas()) + (f" ({core} kernels)" if core else ""),
    })
    for line in sys.stdin:
        command = line.strip()
        if command == "check":
            say(task.check())
        elif command == "run":
            start = time.perf_counter()
            task.run()
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            say({"seconds": time.perf_counter() - start})
        else:
            return


main()
