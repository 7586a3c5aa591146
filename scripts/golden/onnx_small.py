"""Writes the small ONNX files and golden values of the import tests: python3 onnx_small.py FOLDER

Values and gradients are those of PyTorch in float64 on the weights of the file, for an image and an upstream gradient
that Python and Java compute by the same formula.
"""

import json
import math
import sys
import warnings
import zlib
from functools import partial
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models.convnext import CNBlockConfig, ConvNeXt
from torchvision.models.swin_transformer import SwinTransformer
from torchvision.models.vision_transformer import VisionTransformer

warnings.filterwarnings("ignore")


def formula(name, shape):
    count = math.prod(shape)
    start = zlib.crc32(name.encode())
    values = []
    for i in range(count):
        x = (start + i * 2654435761) & 0xFFFFFFFF
        x ^= x >> 16
        x = (x * 2246822519) & 0xFFFFFFFF
        x ^= x >> 13
        x = (x * 3266489917) & 0xFFFFFFFF
        x ^= x >> 16
        values.append(x / 2**31 - 1)
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.fc1 = nn.Conv2d(channels, 4, 1)
        self.fc2 = nn.Conv2d(4, channels, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.fc2(F.relu(self.fc1(F.adaptive_avg_pool2d(x, 1)))))


class Kitchen(nn.Module):
    """Every operator of convolutional networks, once."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.SiLU())
        self.deep = nn.Sequential(nn.Conv2d(8, 8, 5, 1, 2, groups=8, bias=False), nn.BatchNorm2d(8), nn.Hardswish())
        self.squeeze = Squeeze(8)
        self.grouped = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=2)
        self.wide = nn.Conv2d(8, 4, (1, 7), padding=(0, 3))
        self.tall = nn.Conv2d(8, 4, (5, 1), padding=(2, 0))
        self.norm = nn.BatchNorm2d(16)
        self.last = nn.Conv2d(16, 12, 3, padding=1)
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        x = F.max_pool2d(self.stem(x), 3, 2, 1)
        x = x + self.squeeze(self.deep(x))
        x = F.relu6(self.grouped(x)) + x
        pooled = F.avg_pool2d(x, 3, 1, 1)
        x = torch.cat([self.wide(x), self.tall(x), pooled], 1)
        x = F.leaky_relu(self.norm(x), 0.1)
        half = F.avg_pool2d(x, 2)
        up = F.interpolate(half, scale_factor=2.0, mode="nearest")
        smooth = F.interpolate(half, scale_factor=2.0, mode="bilinear", align_corners=False)
        x = F.relu(self.last(x + 0.5 * up - smooth.tanh()))
        return self.head(F.pad(x, (1, 0, 1, 0), mode="reflect").mean([2, 3]))


def vit():
    return VisionTransformer(32, 8, num_layers=2, num_heads=2, hidden_dim=24, mlp_dim=32, num_classes=5)


def swin():
    return SwinTransformer([4, 4], 12, [2, 2], [2, 4], [4, 4], num_classes=5)


def convnext():
    return ConvNeXt([CNBlockConfig(8, 16, 1), CNBlockConfig(16, None, 1)], num_classes=5)


#       network, side, dynamic axes, opset, keep batch norms
CASES = {
    "kitchen": (Kitchen, 32, {0: "n", 2: "h", 3: "w"}, 11, True),
    "vit": (vit, 32, {0: "n"}, 14, False),
    "vit-fixed": (vit, 32, None, 13, False),
    "swin-fixed": (swin, 32, None, 14, False),
    "convnext": (convnext, 32, {0: "n", 2: "h", 3: "w"}, 16, False),
}


def randomize(network):
    for name, tensor in network.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.8, 1.2)
        elif name.endswith("layer_scale"):
            tensor.uniform_(0.5, 1)
        elif tensor.is_floating_point() and tensor.min() == tensor.max():
            tensor.add_(torch.randn_like(tensor), alpha=0.2)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    golden = {}
    for name, (make, side, axes, opset, keep) in CASES.items():
        torch.manual_seed(5)
        network = make().eval()
        randomize(network)
        torch.onnx.export(
            network,
            torch.randn(2 if axes else 1, 3, side, side),
            str(folder / (name + ".onnx")),
            opset_version=opset,
            input_names=["images"],
            output_names=["scores"],
            do_constant_folding=True,
            training=torch.onnx.TrainingMode.PRESERVE if keep else torch.onnx.TrainingMode.EVAL,
            dynamic_axes={"images": axes} if axes else None,
        )
        network = network.double()
        image = formula("image", [3, 3, side, side]).requires_grad_()
        scores = network(image)
        (scores * formula("upstream", list(scores.shape))).sum().backward()
        parameters = {key: value for key, value in network.named_parameters()}
        golden[name] = {
            "scores": scores.flatten().tolist(),
            "image": image.grad.flatten()[::97].tolist(),
            "gradients": {key: p.grad.flatten()[:8].tolist() for key, p in parameters.items() if p.grad is not None},
        }
        print(name, (folder / (name + ".onnx")).stat().st_size)
    (folder / "golden.json").write_text(json.dumps(golden, indent=1) + "\n")


main()
