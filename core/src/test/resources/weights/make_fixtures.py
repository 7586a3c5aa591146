"""Makes zip.pth, see README.md. Needs PyTorch; run in this folder."""
import collections
import torch

base = torch.arange(12, dtype=torch.float32)
state = collections.OrderedDict()
state["contiguous"] = (torch.arange(24, dtype=torch.float32) / 8).reshape(2, 3, 4)
state["transposed"] = torch.arange(6, dtype=torch.float32).reshape(2, 3).t()
state["shared.first"] = base[0:4]
state["shared.second"] = base[4:12].reshape(2, 4)
state["strided"] = base[1:12:3]
state["parameter"] = torch.nn.Parameter(torch.tensor([0.5, -0.25]))
state["frozen"] = torch.nn.Parameter(torch.tensor([1.5]), requires_grad=False)
state["f64"] = torch.tensor([1.0, -2.0, 0.1], dtype=torch.float64)
state["f16"] = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float16)
state["bf16"] = torch.tensor([1.0, -2.0, 0.5], dtype=torch.bfloat16)
state["i64"] = torch.tensor([1, -2, 3000000000], dtype=torch.int64)
state["i32"] = torch.tensor([1, -2, 70000], dtype=torch.int32)
state["u8"] = torch.tensor([0, 127, 255], dtype=torch.uint8)
state["bool"] = torch.tensor([True, False])
state["scalar"] = torch.tensor(7.0)
state["empty"] = torch.zeros(0, 3)
state._metadata = collections.OrderedDict(version=1)
torch.save(state, "zip.pth")
