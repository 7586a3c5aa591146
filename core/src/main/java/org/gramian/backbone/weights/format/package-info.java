/**
 * Weight files as they are published, read into named tensors: safetensors and PyTorch.
 *
 * <p>{@link org.gramian.backbone.weights.format.WeightFile#read} detects the format by the first bytes and returns the
 * tensors with the names and layout of the file.
 *
 * <pre>{@code
 * try (Arena arena = Arena.ofShared()) {
 *     TensorFile file = WeightFile.read(Path.of("resnet50-11ad3fa6.pth"), arena, remarks);
 *     StoredTensor first = file.get("conv1.weight");
 * }
 * }</pre>
 *
 * <p>Its part {@code TorchFile} finds the pickle and the storages of a {@code .pth}. {@code PickleReader} interprets the pickle. No code of the file is run: what is not a tensor is refused by name.
 *
 * <p>Files are not trusted: sizes are checked against the file before memory is allocated, and every problem is
 * reported by a {@link org.gramian.tensor.file.TensorFileException} that names the expected and the found value.
 */
@NullMarked
package org.gramian.backbone.weights.format;

import org.jspecify.annotations.NullMarked;
