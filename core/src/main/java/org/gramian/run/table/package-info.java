/**
 * Tables such as those of the paper: several methods trained on the same folds and crops of the same images.
 *
 * <pre>{@code
 * TablePlan plan = TablePlan.of(RowList.parse("average,bcnn,mine=conv:64/covariance/log/triu"), Settings.NONE);
 * TableData photos = TableData.of(Path.of("photos"), Optional.empty());
 * TableRun run = new TableRun(plan, List.of(photos), Path.of("table"), weights, cache);
 * run.prepare(context);                  // looks at the images, decides everything, finds what is finished
 * run.train(context, cell -> show(cell));
 * ResultTable table = run.table();                    // mean ± std, paired tests, sizes, times
 * }</pre>
 *
 * <p>From start to end:
 *
 * <ol>
 *   <li>A {@link org.gramian.run.table.TableRow} is a method of {@link org.gramian.pooling.Methods}, or a pooling of one's own
 *       under a label; {@link org.gramian.run.table.RowList} reads several, a {@link org.gramian.run.table.TablePreset} has
 *       those of the paper. A {@link org.gramian.run.table.TablePlan} is a list of them with what they have in common.
 *   <li>A {@link org.gramian.run.table.TableData} is a dataset, a column of the table; {@link
 *       org.gramian.run.table.PaperData} tells whether it is one of the paper's, and what the paper reports for it.
 *   <li>{@link org.gramian.run.table.TableRun} makes an ordinary run of every {@link org.gramian.run.table.TableEntry}, one row
 *       on one dataset, in {@code OUT/<dataset>/<row>}. It can be looked at, evaluated and gone on with like any other. Next
 *       to its files, {@link org.gramian.run.table.EpochTimes} keeps how long its epochs took.
 *   <li>A {@link org.gramian.run.table.RowOutcome} is what became of it: a row that cannot be trained does not end the others.
 *   <li>A {@link org.gramian.run.table.ResultTable} has the numbers of all cells.
 * </ol>
 */
@NullMarked
package org.gramian.run.table;

import org.jspecify.annotations.NullMarked;
