/**
 * Work on a GPU: a {@link org.gramian.tensor.cuda.CudaStream} of the current thread, {@link
 * org.gramian.tensor.cuda.CapturedWork} that is replayed as a CUDA graph inside it, a {@link
 * org.gramian.tensor.cuda.SideStream} for work beside it, a {@link org.gramian.tensor.cuda.CudaProgram} of kernels, and a {@link
 * org.gramian.tensor.cuda.GpuUpload} of batches.
 */
@NullMarked
package org.gramian.tensor.cuda;

import org.jspecify.annotations.NullMarked;
