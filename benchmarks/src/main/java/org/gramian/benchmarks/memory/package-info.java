/**
 * Peak memory of every method: {@code benchmarks/memory} starts {@link org.gramian.benchmarks.memory.MemoryBenchmark}, which runs
 * a {@code MemoryWorker} process for each method and writes their {@code MemoryUsage} as Markdown.
 */
@NullMarked
package org.gramian.benchmarks.memory;

import org.jspecify.annotations.NullMarked;
