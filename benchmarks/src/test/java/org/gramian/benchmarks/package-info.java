@NullMarked
package org.gramian.benchmarks;

import org.jspecify.annotations.NullMarked;
