"""The Python side of the benchmarks: the same work in PyTorch, as a good user would write it.

Started by benchmarks/compare with a task as JSON (org.gramian.benchmarks.Task) and a mode such as python-compiled. Prints its
version as a line of JSON, then executes `check`, `run STEPS`, `losses STEPS`, `memory` and `quit` from standard input, with one
line of JSON each; `unavailable` has the reason where something cannot be done. org.gramian.benchmarks.Worker is the same program in
Java; both start from the values of org.gramian.benchmarks.SyntheticValues.
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


def uniform(shape, seed, bound, device, centre=0.0):
    """A tensor uniform in centre ± bound, made in parts so that it takes no more memory than it needs."""
    result = torch.empty(math.prod(shape))
    part = 1 << 20
    for start in range(0, len(result), part):
        end = min(len(result), start + part)
        result[start:end] = (centre + pattern(start, end, seed) * (2 * bound)).float()
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
    """A convolution and an activation; in bfloat16 if it is given such maps, with its own parameters in single precision."""

    def __init__(self, weight, bias, stride=1, padding=None, groups=1, activation=torch.relu):
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(weight), None if bias is None else torch.nn.Parameter(bias)
        self.stride, self.groups, self.activation = stride, groups, activation
        self.padding = weight.shape[2] // 2 if padding is None else padding

    def forward(self, x):
        bias = None if self.bias is None else self.bias.to(x.dtype)
        return self.activation(F.conv2d(x, self.weight.to(x.dtype), bias, self.stride, self.padding, 1, self.groups))


class SamePadding(torch.nn.Module):
    """TensorFlow's padding before a convolution of stride 2 and padding 0: of an even side the odd zero is at its end."""

    def __init__(self, size):
        super().__init__()
        self.before = size // 2

    def forward(self, x):
        top, left = [self.before - 1 + side % 2 for side in x.shape[2:]]
        return F.pad(x, (left, self.before, top, self.before))


class BatchNorm(torch.nn.Module):
    """A batch norm with fixed statistics, whose scale and offset are trained, as when fine-tuning; and an activation."""

    def __init__(self, weight, bias, activation):
        super().__init__()
        self.weight, self.bias, self.activation = torch.nn.Parameter(weight), torch.nn.Parameter(bias), activation
        self.register_buffer("mean", torch.zeros_like(weight))
        self.register_buffer("variance", torch.ones_like(weight))

    def forward(self, x):
        return self.activation(F.batch_norm(x, self.mean, self.variance, self.weight, self.bias, eps=1e-5))


class Residual(torch.nn.Module):
    def __init__(self, body, shortcut, activation):
        super().__init__()
        self.body, self.shortcut, self.activation = body, shortcut, activation

    def forward(self, x):
        return self.activation(self.body(x) + self.shortcut(x))


class Fire(torch.nn.Module):
    def __init__(self, squeeze, one, three):
        super().__init__()
        self.squeeze, self.one, self.three = squeeze, one, three

    def forward(self, x):
        x = self.squeeze(x)
        return torch.cat([self.one(x), self.three(x)], 1)


class Linear(torch.nn.Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(weight), torch.nn.Parameter(bias)

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype), self.bias.to(x.dtype))


class LayerNorm(Linear):
    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight.to(x.dtype), self.bias.to(x.dtype), 1e-6)


class Embedding(torch.nn.Module):
    """Tokens of maps: with the embeddings of their positions, after the class token."""

    def __init__(self, cls_token, pos_embed):
        super().__init__()
        self.cls_token, self.pos_embed = torch.nn.Parameter(cls_token), torch.nn.Parameter(pos_embed)
        self.side = math.isqrt(pos_embed.shape[1] - 1)

    def forward(self, x):
        positions = self.pos_embed[:, 1:]
        if tuple(x.shape[2:]) != (self.side, self.side):
            grid = positions.float().transpose(1, 2).unflatten(2, (self.side, self.side))
            resized = F.interpolate(grid, tuple(x.shape[2:]), mode="bicubic", antialias=True)
            positions = resized.flatten(2).transpose(1, 2)
        first = (self.cls_token + self.pos_embed[:, :1]).to(x.dtype).expand(len(x), -1, -1)
        return torch.cat([first, x.flatten(2).transpose(1, 2) + positions.to(x.dtype)], 1)


def explicit_attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1) @ v


ATTENTION = getattr(F, "scaled_dot_product_attention", explicit_attention)  # since torch 2.0


class Block(torch.nn.Module):
    """A block of a vision transformer."""

    def __init__(self, heads, norm1, qkv, proj, norm2, fc1, fc2):
        super().__init__()
        self.heads, self.norm1, self.qkv, self.proj = heads, norm1, qkv, proj
        self.norm2, self.fc1, self.fc2 = norm2, fc1, fc2

    def forward(self, x):
        joint = self.qkv(self.norm1(x)).unflatten(2, (3, self.heads, -1))
        x = x + self.proj(ATTENTION(*joint.permute(2, 0, 3, 1, 4).unbind(0)).transpose(1, 2).flatten(2))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class PatchMaps(torch.nn.Module):
    """The tokens of the patches, without the class token, as maps."""

    def __init__(self, side):
        super().__init__()
        self.side = side

    def forward(self, x):
        return x[:, 1:].transpose(1, 2).unflatten(2, (self.side, self.side))


def identity(x):
    return x


class Backbone:
    """The layers of a network up to Gramian's default layer, and their parameters by the names that Gramian gives them."""

    BRANCH = 0.1  # factor of the last weights of a residual branch, so that training does not diverge

    def __init__(self, name, spec, device):
        self.device, self.bf16, self.named, self.seed = device, spec["precision"] == "bf16", {}, 10
        self.pixels = spec["pixels"]
        networks = {
            "vgg16": lambda: self.vgg(2, 2, 3, 3, 3),
            "vgg19": lambda: self.vgg(2, 2, 4, 4, 4),
            "resnet50": lambda: self.resnet(3, 4, 6, 3),
            "efficientnet-lite4": self.efficientnet_lite4,
            "vit-s16": lambda: self.vit(384, 6),
            "vit-b16": lambda: self.vit(768, 12),
            "squeezenet": self.squeezenet,
        }
        if name not in networks:
            raise Unavailable(f"for PyTorch there are {', '.join(networks)}, not {name}")
        self.layers, self.channels = networks[name]()

    def random(self, shape, bound, centre=0.0):
        values = uniform(shape, self.seed, bound, self.device, centre)
        self.seed += 1
        return values.contiguous(memory_format=torch.channels_last) if self.bf16 and len(shape) == 4 else values

    def weight(self, shape, factor=1.0):
        return self.random(shape, factor * math.sqrt(6 / math.prod(shape[1:])))

    def keep(self, name, module):
        self.named |= {f"{name}.{key}": parameter for key, parameter in module.named_parameters(recurse=False)}
        return module

    def convolution(self, name, entering, leaving, size, stride=1, factor=1.0, **more):
        """With a bias. Depthwise if `groups` says so."""
        weight = self.weight((leaving, entering // more.get("groups", 1), size, size), factor)
        return self.keep(name, Convolution(weight, torch.zeros(leaving, device=self.device), stride, **more))

    def normalized(self, name, norm, entering, leaving, size, stride=1, factor=1.0, activation=torch.relu):
        """With a batch norm instead of a bias."""
        filters = Convolution(self.weight((leaving, entering, size, size)), None, stride, activation=identity)
        scale, offset = self.random((leaving,), 0.5 * factor, factor), torch.zeros(leaving, device=self.device)
        return [self.keep(name, filters), self.keep(norm, BatchNorm(scale, offset, activation))]

    def vgg(self, *groups):
        layers, entering = [], 3
        for group, count in enumerate(groups):
            if group:
                layers.append(torch.nn.MaxPool2d(2))
            for i in range(count):
                leaving = (64, 128, 256, 512, 512)[group]
                layers.append(self.convolution(f"conv{group + 1}_{i + 1}", entering, leaving, 3))
                entering = leaving
        return layers, entering

    def resnet(self, *groups):
        layers, entering = [*self.normalized("conv1", "bn1", 3, 64, 7, 2), torch.nn.MaxPool2d(3, 2, 1)], 64
        for group, count in enumerate(groups):
            for i in range(count):
                name, width, stride = f"layer{group + 1}.{i}", 64 << group, 2 if group and not i else 1
                leaving = 4 * width
                body = self.normalized(name + ".conv1", name + ".bn1", entering, width, 1)
                body += self.normalized(name + ".conv2", name + ".bn2", width, width, 3, stride)
                body += self.normalized(name + ".conv3", name + ".bn3", width, leaving, 1, 1, self.BRANCH, identity)
                shortcut, way = [], name + ".downsample"
                if i == 0:
                    shortcut = self.normalized(way + ".0", way + ".1", entering, leaving, 1, stride, 1.0, identity)
                layers.append(Residual(torch.nn.Sequential(*body), torch.nn.Sequential(*shortcut), torch.relu))
                entering = leaving
        return layers, entering

    def efficientnet_lite4(self):
        def convolution(name, entering, leaving, size, stride=1, activation=F.relu6, **more):
            padding = None if stride == 1 else 0
            made = self.convolution(name, entering, leaving, size, stride, padding=padding, activation=activation, **more)
            return [made] if stride == 1 else [SamePadding(size), made]

        layers, entering, number = convolution("block0_conv0", 3, 32, 3, 2), 32, 0
        # blocks, channels, size and stride; up to block 28
        for count, leaving, size, stride in (
            (1, 24, 3, 1), (4, 32, 3, 2), (4, 56, 5, 2), (6, 112, 3, 2), (6, 160, 5, 1), (8, 272, 5, 2)
        ):
            for i in range(count):
                name, inner, step = f"block{number}", 6 * entering if number else entering, 1 if i else stride
                residual = step == 1 and entering == leaving
                body = convolution(name + "_conv0", entering, inner, 1) if number else []
                body += convolution(name + "_conv1", inner, inner, size, step, groups=inner)
                factor = self.BRANCH if residual else 1.0
                body += convolution(name + "_conv2", inner, leaving, 1, activation=identity, factor=factor)
                body = torch.nn.Sequential(*body)
                layers.append(Residual(body, torch.nn.Identity(), identity) if residual else body)
                entering, number = leaving, number + 1
        return layers, entering

    def vit(self, width, heads):
        def zeros(size):
            return torch.zeros(size, device=self.device)

        def linear(name, entering, leaving, factor=1.0):
            return self.keep(name, Linear(self.weight((leaving, entering), factor), zeros(leaving)))

        def norm(name):
            return self.keep(name, LayerNorm(self.random((width,), 0.5, 1.0), zeros(width)))

        layers = [self.convolution("patch_embed.proj", 3, width, 16, 16, padding=0, activation=identity)]
        embedding = Embedding(self.random((1, 1, width), 0.5), self.random((1, 197, width), 0.5))
        self.named |= dict(embedding.named_parameters())
        layers.append(embedding)
        for i in range(12):
            name = f"blocks.{i}."
            layers.append(
                Block(
                    heads,
                    norm(name + "norm1"),
                    linear(name + "attn.qkv", width, 3 * width),
                    linear(name + "attn.proj", width, width, self.BRANCH),
                    norm(name + "norm2"),
                    linear(name + "mlp.fc1", width, 4 * width),
                    linear(name + "mlp.fc2", 4 * width, width, self.BRANCH),
                )
            )
        return [*layers, norm("norm"), PatchMaps(self.pixels // 16)], width

    def squeezenet(self):
        layers, entering = [self.convolution("conv1", 3, 64, 3, 2, padding=0), torch.nn.MaxPool2d(3, 2, ceil_mode=True)], 64
        for number, squeezed in zip(range(2, 10), (16, 16, 32, 32, 48, 48, 64, 64)):
            name, expanded = f"fire{number}/", 4 * squeezed
            layers.append(
                Fire(
                    self.convolution(name + "squeeze1x1", entering, squeezed, 1),
                    self.convolution(name + "expand1x1", squeezed, expanded, 1),
                    self.convolution(name + "expand3x3", squeezed, expanded, 3),
                )
            )
            if number in (3, 5):
                layers.append(torch.nn.MaxPool2d(3, 2, ceil_mode=True))
            entering = 2 * expanded
        return layers, entering


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

    def __init__(self, name, spec, device):
        super().__init__()
        self.device, self.named, self.stiefel = device, {}, []
        self.bf16 = spec["precision"] == "bf16"
        stages, channels = [], spec["channels"]
        self.has_backbone = not name.startswith("head")
        self.has_head = not name.startswith("backbone")
        if self.has_backbone:
            backbone = Backbone(spec["backbone"], spec, device)
            self.backbone, channels = torch.nn.Sequential(*backbone.layers), backbone.channels
            self.named |= backbone.named
        if self.has_head:
            stages, length = self.pooling(spec["pooling"], channels)
            fc = torch.nn.Linear(length, spec["classes"], device=device)
            with torch.no_grad():
                fc.weight.copy_(uniform(tuple(fc.weight.shape), 3, 0.1, device))
                fc.bias.zero_()
            self.named |= {"classifier.weight": fc.weight, "classifier.bias": fc.bias}
            self.head = torch.nn.Sequential(*stages, fc)

    def convolution(self, name, shape):
        """The 1×1 convolution of a head."""
        weight = uniform(shape, 2, math.sqrt(6 / math.prod(shape[1:])), self.device)
        if self.bf16:
            weight = weight.contiguous(memory_format=torch.channels_last)
        made = Convolution(weight, torch.full((shape[0],), 0.2, device=self.device))
        self.named |= {name + ".weight": made.weight, name + ".bias": made.bias}
        return made

    def pooling(self, text, channels):
        """The modules of a pooling's text, and the length of what leaves them."""
        stages, size = [], channels
        for stage in text.split("/"):
            word, _, argument = stage.partition(":")
            if word == "conv" and argument.isdigit():
                stages.append(self.convolution("pooling.conv", (int(argument), size, 1, 1)))
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
        n, side = spec["batch"], spec["pixels" if self.model.has_backbone else "side"]
        channels = 3 if self.model.has_backbone else spec["channels"]
        self.x = uniform((n, channels, side, side), 1, 1, device)
        if self.model.bf16:
            self.x = self.x.contiguous(memory_format=torch.channels_last)
        self.labels = (torch.arange(n) % spec["classes"]).to(device)
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
                decays = leaf.dim() > 1 and key.endswith("weight")  # neither biases nor scales of norms
                rate, decay = self.BACKBONE_RATE if backbone else self.RATE, self.DECAY * decays
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

    def losses(self, steps):
        return [self.run().item() for _ in range(steps)]

    def check(self):
        self.gradients()
        values = {f"|gradient of {key}|": norm(leaf.grad) for key, leaf in self.leaves.items()}
        start = {key: leaf.detach().clone() for key, leaf in self.model.named.items()}
        values["loss"] = self.run().item()
        if self.sgd:
            values |= {f"|update of {key}|": norm(leaf - start[key]) for key, leaf in self.model.named.items()}
        values["loss of step 3"] = self.losses(2)[-1]
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
    """The growth of the GPU's memory in use while this process works, summed up, as in org.gramian.benchmarks.Worker."""

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
    torch.set_num_threads(spec["threads"])
    if platform.machine() == "aarch64":
        # its backward is slow there; OpenBLAS is this torch's best configuration
        torch.backends.mkldnn.enabled = False
    fast = spec["precision"] != "f32"
    torch.backends.cudnn.allow_tf32 = fast
    torch.backends.cuda.matmul.allow_tf32 = fast
    torch.backends.cudnn.benchmark = True
    return device


def version(device):
    core = openblas_core()
    blas = " ".join(os.path.basename(f) for f in loaded_blas()) + (f" ({core} kernels)" if core else "")
    mkldnn = "on" if torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled else "off"
    gpu = ", " + torch.cuda.get_device_name(device) if device.type == "cuda" else ""
    return f"Python {platform.python_version()}, torch {torch.__version__}, mkldnn {mkldnn}, BLAS {blas or 'unknown'}{gpu}"


def serve():
    spec = json.loads(sys.argv[1]) | {"mode": sys.argv[2]}
    name = spec["workload"]
    device = prepare(spec)
    memory = GpuMemory(device)
    kind = Training if name.endswith("-training") else Forward
    task = memory.during(lambda: kind(name, spec, device))
    say({"version": version(device)})
    for line in sys.stdin:
        command, _, steps = line.strip().partition(" ")
        if command == "check":
            say(memory.during(task.check))
        elif command == "run":
            say({"seconds": memory.during(lambda: seconds(task, int(steps), device))})
        elif command == "losses":
            say({"losses": memory.during(lambda: task.losses(int(steps)))})
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
