/**
 * {@code gramian spark}: commands of {@code gramian} on Spark, run by {@code spark-submit}.
 *
 * <p>{@link org.gramian.spark.cli.SparkMain} runs a {@code SparkCommand} and reports failures with an exit code. The two of {@code
 * ModelCommand} and {@code SparkAuditCommand} read images by {@code SparkInputOptions}, from folders ({@code FileListing}) or a table, and
 * write a table by {@code OutputOptions} into an {@code OutputFolder}. {@code SparkTrainCommand} writes a run folder; its options are
 * generated from {@link org.gramian.run.config.TrainConfig}. {@code RunningJobs} prints progress and handles Ctrl-C.
 *
 * <p>The launcher passes options of Spark itself to {@code spark-submit}.
 */
@NullMarked
package org.gramian.spark.cli;

import org.jspecify.annotations.NullMarked;
