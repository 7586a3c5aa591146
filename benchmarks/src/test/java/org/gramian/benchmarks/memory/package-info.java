@NullMarked
package org.gramian.benchmarks.memory;

import org.jspecify.annotations.NullMarked;
