/**
 * Reports as self-contained HTML files. Templates escape every name: folders and files may have any name.
 *
 * <p>An {@link org.gramian.report.AuditPage} shows an audit, with a {@link org.gramian.report.ThumbnailSet}; {@link org.gramian.report.run} reports training runs. The template {@code
 * run/chart.jte} draws a {@link org.gramian.report.Chart} as SVG; {@link org.gramian.report.Figures} formats numbers.
 *
 * <pre>{@code
 * String html = AuditPage.of(report, dataset, ThumbnailSet.of(report, dataset, reader, threads), "0.1.0").html();
 * new ReportFile(Path.of("audit.html")).write(html);
 * }</pre>
 */
@NullMarked
package org.gramian.report;

import org.jspecify.annotations.NullMarked;
