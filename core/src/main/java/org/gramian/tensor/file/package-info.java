/**
 * Tensors on disk: reading and writing {@code .safetensors} and {@code .npy} files, without libtorch.
 *
 * <p>Start at {@link org.gramian.tensor.file.Safetensors} (many named tensors and a text-to-text metadata map; the
 * format of models, weights and reference values) or at {@link org.gramian.tensor.file.Npy} (one array, as numpy's
 * {@code np.save} writes it). Both give {@link org.gramian.tensor.file.StoredTensor}s: a type, a shape and the raw
 * bytes.
 *
 * <pre>{@code
 * try (Arena arena = Arena.ofConfined()) {
 *     TensorFile file = Safetensors.read(Path.of("features.safetensors"), arena);
 *     StoredTensor features = file.get("features");
 *     Npy.write(Path.of("features.npy"), features);
 * }
 * }</pre>
 *
 * <p>Three promises hold throughout:
 *
 * <ul>
 *   <li><b>No copies.</b> A file is mapped into memory for as long as the caller's {@link java.lang.foreign.Arena}
 *       lives; only an array in Fortran order is copied. Writing streams, whatever the size.
 *   <li><b>No trust.</b> A header is checked completely, against fixed limits and against the file's real size, before
 *       any of the data is mapped. Whatever is wrong with a file, the outcome is a
 *       {@link org.gramian.tensor.file.TensorFileException} that names the file, the expected and the found value.
 *   <li><b>No half-written files.</b> A file appears under its name complete or not at all, and the same tensors always
 *       give the same bytes.
 * </ul>
 *
 * <p>Inside, {@code InputFile} opens, reads and maps; {@code SafetensorsHeaderParser} parses the text of a
 * {@code SafetensorsHeader}, {@code NpyHeader} its own; {@code OutputFile} writes beside the target and renames.
 */
@NullMarked
package org.gramian.tensor.file;

import org.jspecify.annotations.NullMarked;
