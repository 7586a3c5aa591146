/** Code of the executors, which runs that of the command line: classes, errors, probabilities and features are the same. */
@NullMarked
package org.gramian.spark.executor;

import org.jspecify.annotations.NullMarked;
