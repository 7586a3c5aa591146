/**
 * Speed by rewriting: a {@link org.gramian.accelerate.Rule} replaces a pattern of stages or layers by a fused layer with the same
 * values and gradients.
 *
 * <p>{@link org.gramian.accelerate.Acceleration} rewrites a pooling or a backbone once, when a model is put on a device. Packages
 * below this one define what is computed, packages above it do not know which kernel runs.
 */
@NullMarked
package org.gramian.accelerate;

import org.jspecify.annotations.NullMarked;
