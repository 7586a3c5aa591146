/**
 * How much memory a method takes at its peak: {@code benchmarks/memory} starts {@link
 * org.gramian.benchmarks.memory.Main}, which runs one {@link org.gramian.benchmarks.memory.Worker} per method, a process
 * of its own, and writes what they found ({@link org.gramian.benchmarks.memory.Usage}) as a page ({@link
 * org.gramian.benchmarks.memory.Page}).
 */
@NullMarked
package org.gramian.benchmarks.memory;

import org.jspecify.annotations.NullMarked;
