/** {@code gramian spark}: commands of {@code gramian} on Spark, run by {@code spark-submit}. */
@NullMarked
package org.gramian.spark.cli;

import org.jspecify.annotations.NullMarked;
