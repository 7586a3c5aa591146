/**
 * Work on a GPU: a {@link org.gramian.tensor.cuda.CudaStream} of the current thread, {@link
 * org.gramian.tensor.cuda.CapturedWork} that is replayed as a CUDA graph inside it, a {@link
 * org.gramian.tensor.cuda.SideStream} for work beside it, and a {@link org.gramian.tensor.cuda.CachedCheck} of values
 * that makes the caller wait for the GPU once per tensor only.
 */
@NullMarked
package org.gramian.tensor.cuda;

import org.jspecify.annotations.NullMarked;
