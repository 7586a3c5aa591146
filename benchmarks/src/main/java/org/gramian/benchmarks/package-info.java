/**
 * Measurements: Gramian against PyTorch in Python, and the matrix form of the kernel against the paper's double loop.
 *
 * <p>The command {@code gramian bench} makes a {@link org.gramian.benchmarks.BenchPlan} and gives it to {@link
 * org.gramian.benchmarks.Bench}. For each {@link org.gramian.benchmarks.Workload}, batch and {@link
 * org.gramian.benchmarks.Precision} a {@link org.gramian.benchmarks.Measurement} starts its {@link
 * org.gramian.benchmarks.Side}s. A side is a process of its own, {@link org.gramian.benchmarks.Worker} or {@code
 * worker.py}, so that its peak memory is its own; they take turns, so that whatever else the machine does hits all. All
 * begin with the same numbers, made by a formula ({@link org.gramian.benchmarks.Pattern}, {@link
 * org.gramian.benchmarks.FirstValues}), and must give the same losses and gradients ({@link
 * org.gramian.benchmarks.Agreement}) before anything is timed.
 *
 * <p>A worker in Java does a {@link org.gramian.benchmarks.Task}: it makes its {@link org.gramian.benchmarks.Subject} and takes
 * it forward, or a {@link org.gramian.benchmarks.TrainingStep} with it. What the sides needed becomes {@link
 * org.gramian.benchmarks.Comparison}s, and these a {@link org.gramian.benchmarks.Report}, with the rates by {@link
 * org.gramian.benchmarks.Operations}.
 */
@NullMarked
package org.gramian.benchmarks;

import org.jspecify.annotations.NullMarked;
