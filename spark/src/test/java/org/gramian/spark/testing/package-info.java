/**
 * Fixtures of tests on Spark: a {@link org.gramian.spark.testing.LocalSpark} session, and a {@link
 * org.gramian.spark.testing.SparkHome} made of the jars that Maven found.
 */
@NullMarked
package org.gramian.spark.testing;

import org.jspecify.annotations.NullMarked;
