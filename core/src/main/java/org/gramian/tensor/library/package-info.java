/**
 * Location of libtorch's native libraries, before any of them is loaded.
 *
 * <p>{@link org.gramian.tensor.library.LibtorchFolder} is a folder given by the user ({@code --libtorch}, {@code GRAMIAN_LIBTORCH}),
 * else the Maven artifact on the class path, which {@code LibtorchCache} unpacks once into the user's cache folder: under a lock, into
 * a temporary folder, with checksums, then renamed. Errors are {@link org.gramian.tensor.library.LibtorchException}s with advice.
 */
@NullMarked
package org.gramian.tensor.library;

import org.jspecify.annotations.NullMarked;
