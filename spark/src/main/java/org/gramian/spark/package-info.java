/**
 * Gramian as stages of Spark ML.
 *
 * <pre>{@code
 * GramianModel model = GramianModel.fromFile("hdfs:///models/model.safetensors").setInputCol("path");
 * Dataset<Row> predictions = model.transform(paths); // path, prediction, predictedClass, probability, error
 * }</pre>
 *
 * <p>{@link org.gramian.spark.GramianModel} classifies images, {@link org.gramian.spark.GramianFeaturizer} computes their
 * descriptors. Both are saved with their parameters and the model file ({@code ModelStage}). {@link
 * org.gramian.spark.GramianClassifier} is the estimator that trains such a model, by {@link org.gramian.spark.train}.
 *
 * <p>A column of images holds bytes or paths. Paths are better: the decoding threads read files while the model computes, and rows
 * stay small. Spark's {@code binaryFile} omits empty files without a warning.
 *
 * <p>An unreadable image is a row with an error. Executors run the code of the command line ({@link org.gramian.spark.executor}), so
 * classes, errors and probabilities are the same.
 */
@NullMarked
package org.gramian.spark;

import org.jspecify.annotations.NullMarked;
