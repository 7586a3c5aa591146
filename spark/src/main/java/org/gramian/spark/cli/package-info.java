/**
 * {@code gramian spark}: the commands of one machine over whatever Spark reads, as a program for {@code spark-submit}.
 *
 * <p>{@link org.gramian.spark.cli.Main} finds the command and turns what fails into a sentence and an exit code ({@code
 * Failures}). {@code PredictCommand}, {@code EmbedCommand} and {@code AuditCommand} each begin with {@code InputOptions}, which
 * makes a table of images of folders (by {@code FileListing}) or of a table, and end in a new table by {@code OutputOptions}, in a
 * {@code NewFolder}, with {@code ResultColumns} beside those of the input; {@code Overlap} and {@code OwnDisks} refuse and warn where
 * that would go wrong. Of the table of an audit an {@code AuditSummary} is made. {@code TrainCommand} ends in the folder of a run.
 * While that is computed, {@code JobProgress} says how far it is ({@code TrainingProgressLog}, of a training) and {@code Interruption} cares
 * for Ctrl-C; {@code ImageCounters} then says how many images there were and what was wrong with some.
 *
 * <p>Options of Spark itself are not here: {@code spark-submit} takes them, and the launcher passes them to it.
 */
@NullMarked
package org.gramian.spark.cli;

import org.jspecify.annotations.NullMarked;
