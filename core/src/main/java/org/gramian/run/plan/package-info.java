/**
 * Estimates of a run before it starts: work, time and memory.
 *
 * <p>A {@link org.gramian.run.plan.Workload} counts images, crops, parameters and bytes from the configuration and the
 * folds alone. A {@link org.gramian.run.plan.Probe} measures a {@link org.gramian.run.plan.Probe.Pace} on one small batch, and an
 * {@link org.gramian.run.plan.Estimate} multiplies the two.
 *
 * <pre>{@code
 * Workload work = Workload.of(config, dataset.classes().size(), folds);
 * Pace pace = new Probe(model, config, new ImageReader(ImageLimits.DEFAULT)).measure(files);
 * Duration about = Estimate.of(work, pace, threads).total();
 * }</pre>
 */
@NullMarked
package org.gramian.run.plan;

import org.jspecify.annotations.NullMarked;
