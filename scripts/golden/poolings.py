"""Reference values of poolings, in float64 with numpy, by other formulas than the Java code.

usage: python3 scripts/golden/poolings.py core/src/test/resources/golden
"""

import json
import pathlib
import struct
import sys

import numpy as np


def write(folder, name, about, **tensors):
    """Writes a safetensors file of float64 arrays."""
    header, data = {"__metadata__": {"about": about}}, b""
    for key, value in tensors.items():
        raw = np.ascontiguousarray(value, dtype="<f8").tobytes()
        header[key] = {"dtype": "F64", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (pathlib.Path(folder) / f"{name}.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def spectral(matrix, function):
    """U f(lambda) U^T of a symmetric matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * function(values)) @ vectors.T


def newton_schulz_inverse(matrix, iterations=7):
    """The inverse by Newton-Schulz: the iteration of matrices is one of their eigenvalues."""
    trace = np.trace(matrix)

    def iterated(values):
        y, z = values / trace, np.ones_like(values)
        for _ in range(iterations):
            t = (3 - z * y) / 2
            y, z = y * t, t * z
        return z * z / trace

    return spectral(matrix, iterated)


def isice(covariance, iterations=5, sparsity=0.01, rate=1.0):
    """All published steps, the last of size 0; S kept as two parts, entry by entry."""
    size = len(covariance)
    j = covariance + 1e-6 / size * np.eye(size)
    j /= np.trace(j)
    s = newton_schulz_inverse(j)
    for k in range(iterations):
        h = rate * (1 - k / (iterations - 1))
        gradient = j - newton_schulz_inverse(s)
        moved = np.empty_like(s)
        for index in np.ndindex(s.shape):
            plus, minus = max(s[index], 0), max(-s[index], 0)
            plus = max(plus - h * (gradient[index] + sparsity), 0)
            minus = max(minus - h * (sparsity - gradient[index]), 0)
            moved[index] = plus - minus
        s = (moved + moved.T) / 2
    return s / np.sqrt(np.trace(s) + 1e-6)


def kernel_sum(maps):
    """rbf:sigma=2 + 0.5 bilinear laplacian:sigma=3, map by map."""
    k = np.empty((len(maps), len(maps)))
    for i, f in enumerate(maps):
        for j, g in enumerate(maps):
            distance = np.linalg.norm(f - g)
            k[i, j] = np.exp(-(distance**2) / 8) + 0.5 * np.mean(f * g) * np.exp(-distance / 3)
    return k


def inverse_root_of_barycenter(matrices):
    """G^(-1/2) by fixed points with the unsymmetric G^(-1) S and its eigenvectors."""
    g = matrices.mean(0)
    for _ in range(200):
        logs = []
        for s in matrices:
            values, vectors = np.linalg.eig(np.linalg.solve(g, s))
            logs.append((vectors * np.log(values)) @ np.linalg.inv(vectors))
        values, vectors = np.linalg.eig(np.mean(logs, 0))
        g = np.real(g @ (vectors * np.exp(values)) @ np.linalg.inv(vectors))
        g = (g + g.T) / 2
    return spectral(g, lambda values: values**-0.5)


def democratic(maps, gamma, iterations=10):
    """The Sinkhorn iteration with the matrix of positions."""
    q = (maps.T @ maps) ** 2
    q = q / q.sum(1).mean()
    q += 1e-6 * np.eye(len(q))
    target, weights = q.sum(1) ** gamma, np.ones(len(q))
    for _ in range(iterations):
        weights = weights * np.sqrt(target / (weights * (q @ weights)))
    return np.einsum("p,ip,jp->ij", weights, maps, maps) / maps.shape[1]


def radam(maps, encoders=4):
    """Position by position, and the decoders by a least-squares solver."""
    channels, height, width = maps.shape
    model = channels + -channels % 4
    x = maps / np.sqrt((maps**2).sum((1, 2), keepdims=True))
    for row in range(height):
        for column in range(width):
            for i in range(0, model // 2, 2):
                scale = 10000 ** (-2 * i / model)
                waves = {i: np.sin(column * scale), i + 1: np.cos(column * scale),
                         model // 2 + i: np.sin(row * scale), model // 2 + i + 1: np.cos(row * scale)}
                for channel, wave in waves.items():
                    if channel < channels:
                        x[channel, row, column] += wave
    x = x.reshape(channels, -1)
    sequence = [1]
    while len(sequence) < encoders * channels:
        sequence.append((75 * sequence[-1] + 74) % (2**16 + 1))
    v = np.zeros(channels)
    for w in np.array(sequence, dtype=float).reshape(encoders, channels):
        w = (w - w.mean()) / w.std(ddof=1)
        g = 1 / (1 + np.exp(-(w / np.linalg.norm(w)) @ x))
        v += np.linalg.lstsq(g[:, None], x.T, rcond=None)[0][0]
    return v


def cross_covariance(maps, weight, start, heads, size, iterations):
    """The published svPN: the largest singular value apart, the others over its root."""
    projected = weight @ maps
    out = []
    for head in range(heads):
        a = projected[head * size:(head + 1) * size]
        b = projected[(heads + head) * size:(heads + head + 1) * size]
        x = np.cov(a, b, bias=True)[:size, size:]
        v = start[:, 0]
        for _ in range(iterations):
            u = x @ v / np.linalg.norm(x @ v)
            v = x.T @ u / np.linalg.norm(x.T @ u)
        s = u @ x @ v
        out.append(np.sqrt(s) * np.outer(u, v) + (x - s * np.outer(u, v)) / np.sqrt(s))
    return np.concatenate([matrix.ravel() for matrix in out])


def dropcov(maps, weight, draws):
    """In training, with the covariance matrix; the rate of one image."""
    means = maps.mean(1)
    means = means / np.sqrt((means**2).mean() + 1e-12)
    scores = np.convolve(means, weight[::-1], mode="same")
    importance = np.exp(scores) / np.exp(scores).sum()
    x = maps * (1 + importance[:, None])
    relations = np.cov(x, bias=True).sum(1)
    cosine = importance @ relations / np.linalg.norm(importance) / np.linalg.norm(relations)
    rate = np.clip(1 - 10 / np.log2(len(maps)) * cosine, 0, 0.5)
    return np.where(draws[:, None] < rate, 0, x / (1 - rate))


def main(folder):
    random = np.random.default_rng(20)
    maps = random.standard_normal((3, 7, 12))

    covariances = np.stack([np.cov(m) for m in maps])
    write(folder, "isice_5", "sparse inverse covariance, 5 steps", S=covariances,
          Y=np.stack([isice(c) for c in covariances]))
    write(folder, "democratic", "gamma-democratic aggregation, gamma 0.3, 10 iterations", M=maps,
          K=np.stack([democratic(m, 0.3) for m in maps]))
    images = random.random((2, 7, 3, 5))
    write(folder, "radam", "sum of decoders of 4 randomized autoencoders", X=images,
          v=np.stack([radam(image) for image in images]))
    weight, start = random.standard_normal((12, 7)), random.standard_normal((3, 1))
    write(folder, "sot", "2 heads of size 3, svPN by 2 power iterations", M=maps, weight=weight, start=start,
          v=np.stack([cross_covariance(m, weight, start, 2, 3, 2) for m in maps]))
    write(folder, "kernel_sum", "rbf:sigma=2 + 0.5 bilinear laplacian:sigma=3", M=maps,
          K=np.stack([kernel_sum(m) for m in maps]))
    weight, draws = random.standard_normal(3), random.random((3, 7))
    write(folder, "dropcov", "weighted channels, dropped as in training", M=maps, weight=weight, draws=draws,
          X=np.stack([dropcov(m, weight, d) for m, d in zip(maps, draws)]))
    write(folder, "rbn", "inverse root of the Riemannian barycenter", S=covariances,
          inverseRoot=inverse_root_of_barycenter(covariances))


main(sys.argv[1])
