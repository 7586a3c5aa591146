/**
 * Tables of trained methods in several file formats. A {@link org.gramian.report.table.TableReport} holds the cells, the notes,
 * the command and the configuration as text; each {@link org.gramian.report.table.TableFormat} lays them out and escapes them.
 *
 * <pre>{@code
 * TableReport report = new TableReport(run.table(), "gramian compare photos --methods average,bcnn", machine, wording);
 * for (TableFormat format : TableFormat.values()) {
 *     ReportFile.of(out.resolve(format.file())).write(format.render(report));
 * }
 * }</pre>
 */
@NullMarked
package org.gramian.report.table;

import org.jspecify.annotations.NullMarked;
