/**
 * {@code gramian spark}: commands of {@code gramian} on Spark, run by {@code spark-submit}.
 *
 * <p>{@link org.gramian.spark.cli.SparkMain} runs a command and reports failures with an exit code. {@code SparkPredictCommand} and
 * {@code SparkEmbedCommand}, both a {@code ModelCommand}, and {@code SparkAuditCommand} read images by {@code InputOptions}, from
 * folders ({@code FileListing}) or a table, and write a table by {@code OutputOptions} into an {@code OutputFolder}. {@code
 * SparkTrainCommand} writes a run folder; its {@code TrainingOptions} are generated from {@link org.gramian.run.config.TrainConfig}. {@code
 * JobProgress} and {@code TrainingProgressLog} print progress, {@code JobCancellation} handles Ctrl-C, and {@code ImageCounters} count
 * images and errors.
 *
 * <p>The launcher passes options of Spark itself to {@code spark-submit}.
 */
@NullMarked
package org.gramian.spark.cli;

import org.jspecify.annotations.NullMarked;
