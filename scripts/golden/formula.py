"""Weights and images by a formula, the same as in FormulaWeights.java, and small files of golden values."""

import json
import struct
import zlib

import numpy as np


def values(name, shape):
    """Tensor of a name in float32; see FormulaWeights.java."""
    count = int(np.prod(shape))
    x = (zlib.crc32(name.encode()) + np.arange(count, dtype=np.uint64) * 2654435761) & 0xFFFFFFFF
    x ^= x >> 16
    x = (x * 2246822519) & 0xFFFFFFFF
    x ^= x >> 13
    x = (x * 3266489917) & 0xFFFFFFFF
    x ^= x >> 16
    v = x / 2.0**31 - 1
    if name != "image":
        if len(shape) > 1:
            v = v * np.sqrt(3.0 / (count // shape[0]))
        elif name.endswith("running_var"):
            v = 1 + 0.5 * np.abs(v)
        elif name.endswith(("weight", "gamma", "layer_scale")):
            v = 1 + 0.1 * v
        else:
            v = 0.1 * v
    return v.astype(np.float32).reshape(shape)


def load(model):
    """Gives all parameters and statistics of a torch model their formula values, in float64, and returns the model."""
    import torch

    state = model.state_dict()
    for name, tensor in state.items():
        if tensor.is_floating_point():
            state[name] = torch.from_numpy(values(name, tuple(tensor.shape)))
    model.load_state_dict(state)
    return model.double().eval()


def sample(tensor, count=32):
    """Evenly spaced elements of a tensor in row-major order, at most count."""
    flat = tensor.detach().contiguous().reshape(-1).numpy()
    return flat[:: max(1, -(-len(flat) // count))]


def write(path, tensors, metadata):
    """Writes float64 arrays as safetensors."""
    header, offset, blobs = {"__metadata__": metadata}, 0, []
    for name, value in tensors.items():
        value = np.ascontiguousarray(value, np.float64)
        header[name] = {"dtype": "F64", "shape": list(value.shape), "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
        blobs.append(value.tobytes())
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
