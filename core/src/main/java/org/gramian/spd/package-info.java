/**
 * Kernels and functions of eigenvalues: the values that the stages of a second-order pooling are made of.
 *
 * <p>A {@link org.gramian.spd.Kernel} computes symmetric positive definite (SPD) matrices {@code K [n, C, C]} from feature
 * maps {@code M [n, C, N]} (row i is map f_i): {@link org.gramian.spd.Rbf}, {@link org.gramian.spd.Democratic}, one of the
 * kernels nested in the interface, or a {@link org.gramian.spd.KernelSum} of them. A {@link
 * org.gramian.spd.SpectralFunction} transforms eigenvalues. Other functions of the matrices are stages of {@code org.gramian.pooling}: {@code Transform} and {@code
 * Vectorization}.
 *
 * <p>Letters follow the paper: Gao, Wu, Bu, Jia, "Learning a Robust Representation via a Deep Network on Symmetric
 * Positive Definite Manifolds", Pattern Recognition 92 (2019). The Javadoc notes where its formulas are wrong;
 * {@code docs/mathematics.md} collects them.
 */
@NullMarked
package org.gramian.spd;

import org.jspecify.annotations.NullMarked;
