/**
 * The same model over a Spark Dataset, in the conventions of Spark ML.
 *
 * <pre>{@code
 * GramianModel model = GramianModel.fromFile("hdfs:///models/model.safetensors").setInputCol("path");
 * Dataset<Row> answers = model.transform(paths); // path, prediction, predictedClass, probability, error
 * }</pre>
 *
 * <p>{@link org.gramian.spark.GramianModel} classifies images, {@link org.gramian.spark.GramianFeaturizer} gives their
 * descriptors to Spark's own stages. Both are transformers for a {@code Pipeline}: they are saved with their parameters and the
 * model's file, so that what is loaded elsewhere needs nothing else. What they have in common is a {@code ModelStage}, saved by a
 * {@code StageWriter} and loaded by a {@code StageReader}; {@code ModelFiles} reads models from any file system.
 *
 * <p>{@link org.gramian.spark.GramianClassifier} is the estimator that trains such a model on labelled images; its parameters for
 * that are a {@code TrainingStage}, and what it does is {@link org.gramian.spark.train}.
 *
 * <p>A column of images holds bytes or paths. Paths are better: files are read by the threads that decode, while the model
 * computes, and rows stay small. Beware of Spark's {@code binaryFile}, which leaves out empty files without a word.
 *
 * <p>An image without results is a row with its reason. What computes is {@link org.gramian.spark.executor}, by the code of the
 * command line, so that classes, errors and probabilities are the same.
 */
@NullMarked
package org.gramian.spark;

import org.jspecify.annotations.NullMarked;
