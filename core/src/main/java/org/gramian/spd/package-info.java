/**
 * The geometry of symmetric positive definite matrices, without any idea of images.
 *
 * <p>In the order of the data: a {@link org.gramian.spd.Kernel} takes a batch of feature maps {@code M [n, C, N]} (row i
 * is map f_i) to matrices {@code K [n, C, C]}: {@link org.gramian.spd.Rbf}, {@link org.gramian.spd.Kernel.Laplacian}, {@link
 * org.gramian.spd.Kernel.Polynomial}, {@link org.gramian.spd.Kernel.Covariance}, {@link org.gramian.spd.Kernel.Bilinear}, {@link
 * org.gramian.spd.Kernel.Gaussian}. {@link org.gramian.spd.SpdTransform} refines them, {@code Y = WᵀKW}; {@link org.gramian.spd.SpectralFunction} changes their
 * eigenvalues ({@link org.gramian.spd.Spectral} does the work, forwards and backwards), {@link
 * org.gramian.spd.NewtonSchulz} takes their square root by products alone. {@link org.gramian.spd.UpperTriangle} lays
 * a symmetric matrix out as a vector of the same length (norm), {@link org.gramian.spd.QuadraticForms} and {@link
 * org.gramian.spd.TensorSketching} make shorter ones of it.
 *
 * <p>The matrices W live on the {@link org.gramian.spd.Stiefel} manifold of orthonormal columns: gradients become
 * tangent vectors there, and a {@link org.gramian.spd.Retraction} brings a step back onto it. {@link
 * org.gramian.spd.Diagnostics} finds degenerate features and matrices.
 *
 * <p>Letters follow the paper: Gao, Wu, Bu, Jia, "Learning a Robust Representation via a Deep Network on Symmetric
 * Positive Definite Manifolds", Pattern Recognition 92 (2019). The Javadoc notes where its formulas are wrong;
 * {@code docs/mathematics.md} collects them.
 */
@NullMarked
package org.gramian.spd;

import org.jspecify.annotations.NullMarked;
