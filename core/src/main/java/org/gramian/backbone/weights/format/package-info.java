/**
 * Weight files as they are published, read into named tensors: safetensors, PyTorch, Keras, Caffe.
 *
 * <p>Start at {@link org.gramian.backbone.weights.format.WeightFile#read}: it looks at the first bytes, not at the
 * file's name, lets {@link org.gramian.backbone.weights.format.WeightFile.Format} choose the reader, and gives the tensors
 * under the file's own names, in the file's own layout.
 *
 * <pre>{@code
 * try (Arena arena = Arena.ofShared()) {
 *     WeightFile file = WeightFile.read(Path.of("vgg16-397923af.pth"), arena);
 *     StoredTensor first = file.content().get("features.0.weight");
 * }
 * }</pre>
 *
 * <p>The readers, each in a class or two:
 *
 * <ul>
 *   <li>{@code TorchZip} and {@code TorchLegacy} find the pickle and the storages of a {@code .pth};
 *       {@code PickleReader} runs the pickle, {@code PickleFunctions} knows the few functions it may call, and
 *       {@code TorchState} takes the tensors out of what came of it. No code of the file is ever run: what is not a
 *       tensor is refused by name. {@code ZipDirectory} finds the entries of an archive in mapped memory.
 *   <li>{@code Keras} walks through the groups of an {@code .h5} and reads their datasets.
 *   <li>{@code Caffe} walks through the layers of a {@code .caffemodel}, {@code CaffeBlob} reads one blob.
 * </ul>
 *
 * <p>Files are not trusted: sizes are checked against the file before memory is allocated, and every problem is reported by
 * a {@link org.gramian.tensor.file.TensorFileException} that names the expected and the found value.
 */
@NullMarked
package org.gramian.backbone.weights.format;

import org.jspecify.annotations.NullMarked;
