"""Golden values of vision transformers and ConvNeXt on formula weights, for PublishedNetworksTest.

    python3 scripts/golden/transformers.py

writes core/src/test/resources/golden/networks/transformers.safetensors: tensors `network@HEIGHTxWIDTH:layer` with every k-th
element of the layer's output for one image, in float64. ViT-B/16 and ConvNeXt-T are torchvision's modules; DINOv2 and
other image sizes are computed by `vit` below, a transcription of DINOv2's and timm's forward passes, which is compared
with torchvision's first.
"""

import os

import torch
import torch.nn.functional as F
import torchvision
from formula import load, sample, values, write

GOLDEN = os.path.join(os.path.dirname(__file__), "../../core/src/test/resources/golden/networks/transformers.safetensors")
BLOCKS = 12


def image(height, width):
    return torch.from_numpy(values("image", (1, 3, height, width))).double()


def parameters(width, patch, side, registers, layer_scale, classes, rename=lambda name: name):
    """Formula weights under DINOv2's names; the formula uses the renamed ones."""
    shapes = {
        "patch_embed.proj.weight": (width, 3, patch, patch),
        "patch_embed.proj.bias": (width,),
        "cls_token": (1, 1, width),
        "pos_embed": (1, 1 + side * side, width),
        "norm.weight": (width,),
        "norm.bias": (width,),
    }
    if registers:
        shapes["register_tokens"] = (1, registers, width)
    if classes:
        shapes |= {"head.weight": (classes, width), "head.bias": (classes,)}
    for i in range(BLOCKS):
        for part, size, entering in (
            ("attn.qkv", 3 * width, width),
            ("attn.proj", width, width),
            ("mlp.fc1", 4 * width, width),
            ("mlp.fc2", width, 4 * width),
        ):
            shapes |= {f"blocks.{i}.{part}.weight": (size, entering), f"blocks.{i}.{part}.bias": (size,)}
        for part in ("norm1", "norm2"):
            shapes |= {f"blocks.{i}.{part}.weight": (width,), f"blocks.{i}.{part}.bias": (width,)}
        if layer_scale:
            shapes |= {f"blocks.{i}.ls1.gamma": (width,), f"blocks.{i}.ls2.gamma": (width,)}
    return {name: torch.from_numpy(values(rename(name), shape)).double() for name, shape in shapes.items()}


def vit(x, p, heads, patch, resize):
    """Outputs of all layers as maps. `resize` interpolates positions [1, d, side, side] to a grid of patches."""
    outputs = {}
    x = F.conv2d(x, p["patch_embed.proj.weight"], p["patch_embed.proj.bias"], stride=patch)
    outputs["patch_embed"] = x
    _, width, h, w = x.shape
    positions = p["pos_embed"]
    side = int((positions.shape[1] - 1) ** 0.5)
    grid = positions[:, 1:].reshape(1, side, side, width).permute(0, 3, 1, 2)
    if (h, w) != (side, side):
        grid = resize(grid, h, w)
    x = (x + grid).flatten(2).transpose(1, 2)
    prefix = [p["cls_token"] + positions[:, :1]] + ([p["register_tokens"]] if "register_tokens" in p else [])
    x = torch.cat(prefix + [x], 1)

    def maps(tokens):
        return tokens[:, -h * w :].transpose(1, 2).reshape(1, width, h, w)

    def norm(name, tokens):
        return F.layer_norm(tokens, (width,), p[name + ".weight"], p[name + ".bias"], 1e-6)

    def linear(name, tokens):
        return F.linear(tokens, p[name + ".weight"], p[name + ".bias"])

    for i in range(BLOCKS):
        name = f"blocks.{i}"
        t = x.shape[1]
        q, k, v = linear(name + ".attn.qkv", norm(name + ".norm1", x)).reshape(1, t, 3, heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(2, 3) * (width // heads) ** -0.5).softmax(3)
        y = linear(name + ".attn.proj", (weights @ v).transpose(1, 2).reshape(1, t, width))
        x = x + y * p.get(name + ".ls1.gamma", torch.ones(1).double())
        y = linear(name + ".mlp.fc2", F.gelu(linear(name + ".mlp.fc1", norm(name + ".norm2", x))))
        x = x + y * p.get(name + ".ls2.gamma", torch.ones(1).double())
        outputs[name] = maps(x)
    x = norm("norm", x)
    outputs["norm"] = maps(x)
    outputs["cls"] = x[:, 0]
    if "head.weight" in p:
        outputs["logits"] = F.linear(x[:, 0], p["head.weight"], p["head.bias"])
    return outputs


def antialiased(grid, h, w):
    """timm's, and DINOv2's with registers."""
    return F.interpolate(grid, (h, w), mode="bicubic", antialias=True)


def offset(grid, h, w):
    """DINOv2's without registers: the scale, not the size, is given."""
    side = grid.shape[-1]
    return F.interpolate(grid, scale_factor=((h + 0.1) / side, (w + 0.1) / side), mode="bicubic")


def torchvision_name(name):
    parts = {
        "patch_embed.proj": "conv_proj",
        "cls_token": "class_token",
        "pos_embed": "encoder.pos_embedding",
        "head": "heads.head",
        "norm1": "ln_1",
        "norm2": "ln_2",
        "attn.qkv.": "self_attention.in_proj_",
        "attn.proj": "self_attention.out_proj",
        "mlp.fc1": "mlp.0",
        "mlp.fc2": "mlp.3",
        "blocks.": "encoder.layers.encoder_layer_",
    }
    if name.startswith("norm."):
        return name.replace("norm", "encoder.ln")
    for own, theirs in parts.items():
        name = name.replace(own, theirs)
    return name


golden = {}


def keep(key, outputs, layers):
    for layer in layers:
        golden[f"{key}:{layer}"] = sample(outputs[layer])


with torch.no_grad():
    vit_b = load(torchvision.models.vit_b_16())
    found = {"logits": vit_b(image(224, 224))}
    own = parameters(768, 16, 14, 0, False, 1000, torchvision_name)
    for name, value in own.items():
        assert torch.equal(value, vit_b.state_dict()[torchvision_name(name)]), name
    outputs = vit(image(224, 224), own, 12, 16, antialiased)
    assert (outputs["logits"] - found["logits"]).abs().max() < 1e-10
    keep("vit-b16@224x224", outputs, ["patch_embed", "blocks.0", "blocks.11", "norm", "cls"])
    golden["vit-b16@224x224:logits"] = sample(found["logits"])
    outputs = vit(image(280, 250), own, 12, 16, antialiased)
    keep("vit-b16@280x250", outputs, ["blocks.0", "cls", "logits"])

    dino = vit(image(112, 98), parameters(384, 14, 37, 0, True, 0), 6, 14, offset)
    keep("dinov2-vits14@112x98", dino, ["blocks.0", "blocks.11", "norm", "cls"])
    dino = vit(image(112, 98), parameters(384, 14, 37, 4, True, 0), 6, 14, antialiased)
    keep("dinov2-vits14-reg@112x98", dino, ["blocks.0", "blocks.11", "norm", "cls"])

    convnext = load(torchvision.models.convnext_tiny())
    for layer in ("features.0", "features.1.0", "features.1", "features.2", "features.5", "features.7"):
        convnext.get_submodule(layer).register_forward_hook(
            lambda _, __, output, key=f"convnext_tiny@75x64:{layer}": golden.__setitem__(key, sample(output))
        )
    golden["convnext_tiny@75x64:logits"] = sample(convnext(image(75, 64)))

write(GOLDEN, golden, {"torch": torch.__version__, "torchvision": torchvision.__version__})
print({key: float(abs(value).max()) for key, value in golden.items()})
