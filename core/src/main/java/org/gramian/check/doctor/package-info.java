/**
 * Self-checks of {@code gramian doctor}, which run anywhere the program runs.
 *
 * <p>{@link org.gramian.check.doctor.GoldenCheck} compares layers with a folder of float64 reference files; {@link
 * org.gramian.check.doctor.LayerCheck} compares the gradients of every layer with central differences. Both return {@link
 * org.gramian.check.doctor.CheckResult}s.
 */
@NullMarked
package org.gramian.check.doctor;

import org.jspecify.annotations.NullMarked;
