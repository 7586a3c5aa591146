/**
 * Layers on symmetric positive definite (SPD) matrices.
 *
 * <p>In the order of the data: a {@link org.gramian.spd.Kernel} computes matrices {@code K [n, C, C]} from feature maps
 * {@code M [n, C, N]} (row i is map f_i): {@link org.gramian.spd.Rbf}, or one of the kernels nested in the interface.
 * {@link org.gramian.spd.SpdTransform} computes {@code Y = WᵀKW}, {@link org.gramian.spd.SpectralFunction} transforms
 * eigenvalues, {@link org.gramian.spd.NewtonSchulz} computes the square root by matrix products. {@link
 * org.gramian.spd.UpperTriangle} vectorizes a symmetric matrix; {@link org.gramian.spd.QuadraticForms} and {@link
 * org.gramian.spd.TensorSketching} compute shorter vectors.
 *
 * <p>The weights W are points of the {@link org.gramian.spd.Stiefel} manifold, which has Riemannian gradients and
 * {@linkplain org.gramian.spd.Retraction retractions}. {@link org.gramian.spd.Diagnostics} finds degenerate features
 * and matrices.
 *
 * <p>Letters follow the paper: Gao, Wu, Bu, Jia, "Learning a Robust Representation via a Deep Network on Symmetric
 * Positive Definite Manifolds", Pattern Recognition 92 (2019). The Javadoc notes where its formulas are wrong;
 * {@code docs/mathematics.md} collects them.
 */
@NullMarked
package org.gramian.spd;

import org.jspecify.annotations.NullMarked;
