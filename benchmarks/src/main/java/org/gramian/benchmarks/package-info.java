/**
 * Benchmarks: Gramian against PyTorch, single layers with JMH, and peak memory of every method.
 *
 * <p>{@code benchmarks/compare} starts each side in a process of its own, {@code Worker} or {@code worker.py}, so that peak memory is
 * measured per side. The sides start from the same {@code SyntheticValues}, must agree in losses and gradients, and are timed in
 * turns, so that other load affects all of them.
 */
@NullMarked
package org.gramian.benchmarks;

import org.jspecify.annotations.NullMarked;
