/**
 * Tables such as those of the paper: several methods trained on the same folds and crops of the same images.
 *
 * <pre>{@code
 * TablePlan plan = TablePlan.of(RowList.parse("average,bcnn,mine=conv:64/covariance/log/triu"), Settings.NONE);
 * TableData photos = TableData.of(Path.of("photos"), Optional.empty());
 * TableRun run = new TableRun(plan, List.of(photos), Path.of("table"), weights, cache);
 * run.prepare(context);                  // audits images, plans rows, reads finished ones
 * run.train(context, cell -> show(cell));
 * ResultTable table = run.table();                    // mean ± std, paired tests, sizes, times
 * }</pre>
 *
 * <p>From start to end:
 *
 * <ol>
 *   <li>A {@link org.gramian.run.table.TableRow} is a method of {@link org.gramian.pooling.Methods}, or a custom pooling
 *       with a label; {@link org.gramian.run.table.RowList} parses several, a {@link org.gramian.run.table.TablePreset} has
 *       those of the paper. A {@link org.gramian.run.table.TablePlan} is a list of rows with common settings.
 *   <li>A {@link org.gramian.run.table.TableData} is a dataset, a column of the table; {@link
 *       org.gramian.run.table.PaperData} has the paper's datasets with its results.
 *   <li>{@link org.gramian.run.table.TableRun} makes an ordinary run of every {@link org.gramian.run.table.TableEntry}, one row
 *       on one dataset, in {@code OUT/<dataset>/<row>}. It can be shown, evaluated and resumed like any other.
 *       {@link org.gramian.run.table.EpochTimes} stores the times of its epochs there.
 *   <li>A {@link org.gramian.run.table.RowOutcome} is its state: a failing row does not end the others.
 *   <li>A {@link org.gramian.run.table.ResultTable} has the numbers of all cells.
 * </ol>
 */
@NullMarked
package org.gramian.run.table;

import org.jspecify.annotations.NullMarked;
