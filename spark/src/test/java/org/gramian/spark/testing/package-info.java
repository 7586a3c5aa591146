/**
 * What tests on Spark stand on: a {@link org.gramian.spark.testing.SparkHome} made of the jars that Maven found, and in it a
 * {@link org.gramian.spark.testing.StandaloneCluster} of real processes.
 */
@NullMarked
package org.gramian.spark.testing;

import org.jspecify.annotations.NullMarked;
