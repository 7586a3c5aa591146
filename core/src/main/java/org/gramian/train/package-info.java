/**
 * Optimizers: SGD and AdamW with Riemannian steps for parameters on the Stiefel manifold.
 *
 * <p>An {@link org.gramian.train.Optimizer} moves every {@link org.gramian.autodiff.Parameter} by its role: weights with weight decay,
 * biases without, matrices with orthonormal columns along the Stiefel manifold. {@link org.gramian.train.CudaGraphOptimizer} takes the
 * same steps on a GPU without host synchronization.
 */
@NullMarked
package org.gramian.train;

import org.jspecify.annotations.NullMarked;
