/**
 * Measurements: Gramian against PyTorch in Python, and the matrix form of the kernel against the paper's double loop.
 *
 * <p>{@code benchmarks/run} starts {@link org.gramian.benchmarks.Main}, which runs each {@link
 * org.gramian.benchmarks.Workload} as two {@link org.gramian.benchmarks.Side}s. A side is a process of its own, {@link
 * org.gramian.benchmarks.Worker} or {@code worker.py}, so that its peak memory is its own; the two take turns ({@link
 * org.gramian.benchmarks.Comparison}), so that whatever else the machine does hits both. Both begin with the same
 * numbers, made by a formula ({@link org.gramian.benchmarks.Pattern}), and must give the same losses and gradients
 * ({@link org.gramian.benchmarks.Agreement}) before anything is timed.
 */
@NullMarked
package org.gramian.benchmarks;

import org.jspecify.annotations.NullMarked;
