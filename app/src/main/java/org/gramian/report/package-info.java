/**
 * Reports to look at: single HTML files that need nothing else, no network and no script.
 *
 * <p>An {@link org.gramian.report.AuditPage} shows an audit. Its {@link org.gramian.report.Album} holds small copies of the
 * pictures that are shown, its {@link org.gramian.report.SizePlot} the sizes of all. The words and shapes stand in the
 * template {@code audit.jte}, which escapes every name: folders and files may be called anything.
 *
 * <pre>{@code
 * String html = AuditPage.of(report, dataset, Album.of(report, dataset, reader, threads), "0.1.0").html();
 * ReportFile.of(Path.of("audit.html")).write(html);
 * }</pre>
 */
@NullMarked
package org.gramian.report;

import org.jspecify.annotations.NullMarked;
