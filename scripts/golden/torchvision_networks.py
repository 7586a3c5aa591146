"""Golden values of torchvision's convolutional networks on formula weights, for PublishedNetworksTest.

    python3 scripts/golden/torchvision_networks.py

writes core/src/test/resources/golden/networks/torchvision_networks.safetensors: for each network and layer a tensor
`network:layer` with every k-th element of the layer's output for one image of 75×64, in float64.
"""

import os

import torch
import torchvision
from formula import load, sample, values, write

GOLDEN = os.path.join(os.path.dirname(__file__), "../../core/src/test/resources/golden/networks/torchvision_networks.safetensors")


def resnet50_v1():
    """ResNet-50 with the stride on the first 1×1 convolution."""
    model = torchvision.models.resnet50()
    for group in (model.layer2, model.layer3, model.layer4):
        group[0].conv1.stride, group[0].conv2.stride = (2, 2), (1, 1)
    return model


NETWORKS = {
    "resnet18": (torchvision.models.resnet18, ["layer1", "layer4"]),
    "resnet50": (torchvision.models.resnet50, ["layer2.0", "layer4"]),
    "resnet50-v1": (resnet50_v1, ["layer2.0", "layer4"]),
    "mobilenet_v3_large": (
        torchvision.models.mobilenet_v3_large,
        ["features.0", "features.1", "features.4", "features.12", "features.15", "features.16"],
    ),
    "efficientnet_v2_s": (
        torchvision.models.efficientnet_v2_s,
        ["features.0", "features.1", "features.2.0", "features.4.1", "features.5", "features.6", "features.7"],
    ),
}

image = torch.from_numpy(values("image", (1, 3, 75, 64))).double()
golden = {}
for name, (create, layers) in NETWORKS.items():
    model = load(create())
    for layer in layers:
        model.get_submodule(layer).register_forward_hook(
            lambda _, __, output, key=f"{name}:{layer}": golden.__setitem__(key, sample(output))
        )
    with torch.no_grad():
        golden[f"{name}:logits"] = sample(model(image))
write(GOLDEN, golden, {"torch": torch.__version__, "torchvision": torchvision.__version__})
print({key: float(abs(value).max()) for key, value in golden.items()})
