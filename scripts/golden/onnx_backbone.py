"""Writes small-backbone.onnx, the ONNX file that command-line tests import: python3 onnx_backbone.py FOLDER"""

import sys
import warnings
from pathlib import Path

import torch
from torch import nn

warnings.filterwarnings("ignore")


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 1)

    def forward(self, x):
        return torch.relu(x + self.conv2(torch.relu(self.norm(self.conv1(x)))))


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=4, padding=1)
        self.block = Block(8)
        self.down = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.head = nn.Linear(12, 5)

    def forward(self, images):
        x = torch.relu(self.stem(images))
        x = torch.relu(self.down(self.block(x)))
        return self.head(x.mean((2, 3)))


def main(folder):
    torch.manual_seed(1)
    network = Small().eval()
    torch.onnx.export(
        network,
        torch.randn(2, 3, 64, 64),
        str(Path(folder) / "small-backbone.onnx"),
        opset_version=13,
        input_names=["images"],
        output_names=["scores"],
        dynamic_axes={"images": {0: "n", 2: "h", 3: "w"}},
    )


if __name__ == "__main__":
    main(sys.argv[1])
