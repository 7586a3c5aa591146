/**
 * The native libraries: where they are, loading them, and their functions without tensors.
 *
 * <p>{@link org.gramian.tensor.library.LibtorchFolder} is a folder given by the user ({@code --libtorch}, {@code GRAMIAN_LIBTORCH}),
 * else the Maven artifact on the class path, which {@code LibtorchCache} unpacks once into the user's cache folder: under a lock, into
 * a temporary folder, with checksums, then renamed. Errors are {@link org.gramian.tensor.library.LibtorchException}s with advice.
 *
 * <p>{@link org.gramian.tensor.library.Libtorch} loads the libraries through the foreign-function interface and holds the switches
 * that are global in libtorch: threads, and by {@link org.gramian.tensor.library.GpuMath} TF32 and determinism. {@link
 * org.gramian.tensor.library.SingleThreadWorkers} run operators on one thread each. {@link org.gramian.tensor.library.Cuda} has the
 * functions of CUDA, which {@link org.gramian.tensor.library.CudaGraph} uses to capture and replay work.
 */
@NullMarked
package org.gramian.tensor.library;

import org.jspecify.annotations.NullMarked;
