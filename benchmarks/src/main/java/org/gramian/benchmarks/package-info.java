/** Measurements of Gramian against the definition's double loop and against Python. */
@NullMarked
package org.gramian.benchmarks;

import org.jspecify.annotations.NullMarked;
