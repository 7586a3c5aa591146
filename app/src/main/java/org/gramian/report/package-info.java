/**
 * Reports: self-contained HTML files.
 *
 * <p>An {@link org.gramian.report.AuditPage} shows an audit, with a {@link org.gramian.report.ThumbnailSet} of images and a {@link
 * org.gramian.report.SizePlot} of all image sizes. The template {@code audit.jte} escapes every name: folders and files may have
 * any name.
 *
 * <pre>{@code
 * String html = AuditPage.of(report, dataset, ThumbnailSet.of(report, dataset, reader, threads), "0.1.0").html();
 * ReportFile.of(Path.of("audit.html")).write(html);
 * }</pre>
 *
 * <p>{@link org.gramian.report.run} reports training runs.
 *
 * <p>{@link org.gramian.report.TrainingCurves} are the learning curves of one run or of several, as {@linkplain
 * org.gramian.report.chart charts} that pages draw as SVG.
 */
@NullMarked
package org.gramian.report;

import org.jspecify.annotations.NullMarked;
