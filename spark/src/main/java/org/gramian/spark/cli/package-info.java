/**
 * {@code gramian spark}: the commands of one machine on data that Spark reads, as a program for {@code spark-submit}.
 *
 * <p>{@link org.gramian.spark.cli.Main} runs a command and reports {@code Failures} with an exit code. {@code PredictCommand},
 * {@code EmbedCommand} and {@code AuditCommand} read images by {@code InputOptions}, from folders ({@code FileListing}) or from
 * a table, and write a new table by {@code OutputOptions} into a {@code NewFolder}, with {@code ResultColumns} beside those of
 * the input; {@code Overlap} rejects an output that would remove an input. {@code TrainCommand} writes a run folder; its
 * {@code TrainingOptions} are generated from {@link org.gramian.run.config.Keys}. {@code JobProgress} and
 * {@code TrainingProgressLog} show progress, {@code Interruption} handles Ctrl-C, and {@code ImageCounters} count images and
 * errors.
 *
 * <p>The launcher passes options of Spark itself to {@code spark-submit}.
 */
@NullMarked
package org.gramian.spark.cli;

import org.jspecify.annotations.NullMarked;
