/**
 * Reports of training runs as self-contained HTML files.
 *
 * <p>{@link org.gramian.report.run.RunReport} is the entry point. It reads each run by a {@link org.gramian.report.run.RunReader} and
 * lays out a {@link org.gramian.report.run.RunView} for each, a {@link org.gramian.report.run.ComparisonView} of several, and the
 * {@link org.gramian.report.run.ImageSheet} with all thumbnails. A view holds the content of one section; the templates {@code
 * run.jte} and {@code run/*.jte} lay it out and escape every name. The script {@code report.js} adds sorting and popups; the content
 * security policy of the page allows no other script and no requests.
 */
@NullMarked
package org.gramian.report.run;

import org.jspecify.annotations.NullMarked;
