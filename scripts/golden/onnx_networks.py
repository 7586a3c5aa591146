"""Exports torchvision networks with random weights to ONNX: python3 onnx_networks.py FOLDER [NAME...]

The files are foreign input for the tests of org.gramian.backbone.onnx; full networks are not committed. A name ending
in -fixed is exported for one image of one size, others for any batch and, where the network allows it, any size.
"""

import sys
import warnings
from pathlib import Path

import torch
import torchvision.models as models

warnings.filterwarnings("ignore")

FULL = {
    "resnet18": lambda: models.resnet18(),
    "resnet50": lambda: models.resnet50(),
    "mobilenet_v3_large": lambda: models.mobilenet_v3_large(),
    "efficientnet_b0": lambda: models.efficientnet_b0(),
    "convnext_tiny": lambda: models.convnext_tiny(),
    "vit_b_16": lambda: models.vit_b_16(),
    "swin_t": lambda: models.swin_t(),
    "vgg16": lambda: models.vgg16(),
    "inception_v3": lambda: models.inception_v3(init_weights=False, aux_logits=False),
    "densenet121": lambda: models.densenet121(),
    "mobilenet_v2": lambda: models.mobilenet_v2(),
    "squeezenet1_1": lambda: models.squeezenet1_1(),
    "googlenet": lambda: models.googlenet(init_weights=False, aux_logits=False),
    "shufflenet_v2_x1_0": lambda: models.shufflenet_v2_x1_0(),
    "regnet_y_400mf": lambda: models.regnet_y_400mf(),
    "efficientnet_v2_s": lambda: models.efficientnet_v2_s(),
}

FIXED_SIZE = {"vit_b_16", "swin_t", "vgg16"}


def randomize(network):
    """Draws what is constant in a new network: statistics of batch norms, biases, scales, class tokens, some heads."""
    for name, tensor in network.state_dict().items():
        if name.endswith("running_var"):
            tensor.uniform_(0.8, 1.2)
        elif name.endswith("layer_scale"):
            tensor.uniform_(0.5, 1)
        elif tensor.is_floating_point() and tensor.min() == tensor.max():
            tensor.add_(torch.randn_like(tensor), alpha=0.05)


def export(network, file, size, fixed, opset, training=False):
    torch.onnx.export(
        network,
        torch.randn(1 if fixed else 2, 3, size, size),
        str(file),
        opset_version=opset,
        input_names=["images"],
        output_names=["scores"],
        do_constant_folding=not training,
        training=torch.onnx.TrainingMode.PRESERVE if training else torch.onnx.TrainingMode.EVAL,
        dynamic_axes=None
        if fixed == "all"
        else {"images": {0: "n"} if fixed else {0: "n", 2: "h", 3: "w"}},
    )


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or FULL:
        plain = name.removesuffix("-fixed").removesuffix("-bn")
        torch.manual_seed(7)
        network = FULL[plain]().eval()
        randomize(network)
        fixed = "all" if name.endswith("-fixed") else plain in FIXED_SIZE
        size = 299 if plain == "inception_v3" else 224
        export(network, folder / (name + ".onnx"), size, fixed, 14, name.endswith("-bn"))
        print(name, (folder / (name + ".onnx")).stat().st_size)


main()
