/**
 * Work and memory of a run, and its measured pace.
 *
 * <p>A {@link org.gramian.run.plan.Workload} counts images, crops, parameters and bytes from the configuration and the
 * folds alone. A {@link org.gramian.run.plan.Pace} measures the time of tasks while they run.
 */
@NullMarked
package org.gramian.run.plan;

import org.jspecify.annotations.NullMarked;
