/**
 * Reports to look at: single HTML files that need nothing else and no network, and images of curves.
 *
 * <p>An {@link org.gramian.report.AuditPage} shows an audit. Its {@link org.gramian.report.Album} holds small copies of the
 * images that are shown, its {@link org.gramian.report.SizePlot} the sizes of all. The words and shapes stand in the
 * template {@code audit.jte}, which escapes every name: folders and files may be called anything.
 *
 * <pre>{@code
 * String html = AuditPage.of(report, dataset, Album.of(report, dataset, reader, threads), "0.1.0").html();
 * ReportFile.of(Path.of("audit.html")).write(html);
 * }</pre>
 *
 * <p>{@link org.gramian.report.run} is the report of training runs, {@link org.gramian.report.table} that of tables of methods.
 *
 * <p>{@link org.gramian.report.TrainingCurves} are the learning curves of one run or of several, as {@linkplain
 * org.gramian.report.chart charts} that pages draw as SVG and {@link org.gramian.report.chart.ChartImage} as PNG:
 *
 * <pre>{@code
 * TrainingCurves.image("materials, fold 1", epochs).write(Path.of("curves.png"));
 * }</pre>
 */
@NullMarked
package org.gramian.report;

import org.jspecify.annotations.NullMarked;
