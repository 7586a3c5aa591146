/**
 * Functions of symmetric positive definite (SPD) matrices that the stages of a pooling call.
 *
 * <p>{@link org.gramian.spd.layer.SpdTransform} computes {@code Y = WᵀKW}, {@link org.gramian.spd.layer.NewtonSchulz} the
 * square root by matrix products, {@link org.gramian.spd.layer.SparseInverse} a sparse inverse and {@link
 * org.gramian.spd.layer.Barycenter} the Riemannian mean. {@link org.gramian.spd.layer.UpperTriangle} vectorizes a
 * symmetric matrix; {@link org.gramian.spd.layer.QuadraticForms} and {@link org.gramian.spd.layer.TensorSketching} compute
 * shorter vectors.
 *
 * <p>The weights W are points of the {@link org.gramian.spd.layer.Stiefel} manifold, which has Riemannian gradients and
 * {@linkplain org.gramian.spd.layer.Retraction retractions}.
 */
@NullMarked
package org.gramian.spd.layer;

import org.jspecify.annotations.NullMarked;
