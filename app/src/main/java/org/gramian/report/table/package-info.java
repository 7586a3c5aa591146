/**
 * A table of trained methods in every form that people paste: one {@link org.gramian.report.table.TableReport} holds the cells,
 * the notes, the command and the configuration as texts; each form only sets them, and escapes what it must.
 *
 * <pre>{@code
 * TableReport report = new TableReport(run.table(), "gramian compare photos --methods average,bcnn", machine, wording);
 * for (TableForm form : TableForm.values()) {
 *     ReportFile.of(out.resolve(form.file())).write(form.render(report));
 * }
 * }</pre>
 */
@NullMarked
package org.gramian.report.table;

import org.jspecify.annotations.NullMarked;
