/**
 * Gramian as stages of Spark ML: {@link org.gramian.spark.GramianModel} classifies images or computes their descriptors, {@link
 * org.gramian.spark.GramianClassifier} is the estimator that trains such a model.
 *
 * <p>A column of images holds bytes or paths. Paths are better: the decoding threads read files while the model computes, and rows
 * stay small. Spark's {@code binaryFile} omits empty files without a warning. An unreadable image is a row with an error.
 */
@NullMarked
package org.gramian.spark;

import org.jspecify.annotations.NullMarked;
