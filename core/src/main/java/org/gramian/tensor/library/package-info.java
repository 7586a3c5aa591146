/**
 * Where libtorch's native libraries come from, before any of them is loaded.
 *
 * <p>{@code LibtorchFolder} decides: a folder that the user names ({@code --libtorch}, {@code
 * GRAMIAN_LIBTORCH}), else the Maven artifact on the class path, which {@code LibtorchCache} unpacks once into the user's
 * cache folder: under a lock, into a folder beside the final one, with checksums, then renamed. The answer is a {@link
 * org.gramian.tensor.library.LibtorchFolder}; what goes wrong is a {@link
 * org.gramian.tensor.library.LibtorchException} that names what to try.
 */
@NullMarked
package org.gramian.tensor.library;

import org.jspecify.annotations.NullMarked;
