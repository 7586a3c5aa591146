/**
 * Tensors on disk: reading and writing {@code .safetensors} files, without libtorch.
 *
 * <p>Start at {@link org.gramian.tensor.file.Safetensors} (many named tensors and a text-to-text metadata map; the
 * format of models, weights and reference values). It gives {@link org.gramian.tensor.file.StoredTensor}s: a type, a shape and the
 * raw bytes.
 *
 * <pre>{@code
 * try (Arena arena = Arena.ofConfined()) {
 *     TensorFile file = Safetensors.read(Path.of("features.safetensors"), arena);
 *     StoredTensor features = file.get("features");
 * }
 * }</pre>
 *
 * <ul>
 *   <li><b>Private copies.</b> A file is read into memory of the caller's {@link java.lang.foreign.Arena}, so that a program that
 *       changes or shortens it does no harm. Writing streams.
 *   <li><b>No trust.</b> A header is checked completely, against fixed limits and the size of the file, before any data is
 *       read. Files with checksums are verified. Errors are {@link org.gramian.tensor.file.TensorFileException}s.
 *   <li><b>Atomic writes.</b> A file is complete or absent, and the same tensors always give the same bytes.
 * </ul>
 */
@NullMarked
package org.gramian.tensor.file;

import org.jspecify.annotations.NullMarked;
