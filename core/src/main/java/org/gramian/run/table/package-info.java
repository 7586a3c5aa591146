/**
 * Tables such as those of the paper: several methods trained on the same folds and crops of the same images.
 *
 * <pre>{@code
 * TablePlan plan = TablePlan.of(RowList.parse("average,bcnn,mine=conv:64/covariance/log/triu"), Settings.NONE);
 * List<TableData> data = TableData.open(List.of(Path.of("photos")), Optional.empty());
 * TableRun run = new TableRun(plan, data, Path.of("table"), weights, cache);
 * run.prepare(context);                  // audits images, plans rows, reads finished ones
 * run.train(context, listener);          // one ordinary run per row and dataset, in table/<dataset>/<row>
 * ResultTable table = run.table();       // mean ± std, paired tests, sizes, times
 * }</pre>
 */
@NullMarked
package org.gramian.run.table;

import org.jspecify.annotations.NullMarked;
