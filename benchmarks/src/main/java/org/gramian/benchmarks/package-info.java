/**
 * Benchmarks: Gramian against PyTorch, and the matrix form of the kernel against the double loop of its definition.
 *
 * <p>The command {@code gramian bench} creates a {@link org.gramian.benchmarks.BenchPlan} and runs it with {@link
 * org.gramian.benchmarks.Bench}. For each {@link org.gramian.benchmarks.BenchWorkload}, batch size and {@link
 * org.gramian.benchmarks.Precision} a {@code WorkloadMeasurement} starts its sides. Each {@code Side} is a process of its own,
 * {@code BenchWorker} or {@code worker.py}, so that peak memory is measured per side; the sides take turns, so that other load
 * affects all of them. All start from the same values ({@code SyntheticValues}) and must agree in losses and
 * gradients before they are timed.
 *
 * <p>A worker in Java runs a {@code Task}: it creates a {@code BenchModel} and runs it forward, or takes training steps. The
 * results ({@code WorkloadResult}) make a {@link org.gramian.benchmarks.BenchReport}, with rates by {@code Operations}.
 */
@NullMarked
package org.gramian.benchmarks;

import org.jspecify.annotations.NullMarked;
