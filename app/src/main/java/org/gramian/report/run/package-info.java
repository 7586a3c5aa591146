/**
 * Reports of training runs as self-contained HTML files.
 *
 * <p>{@link org.gramian.report.run.RunReport} is the entry point. It reads each run ({@link org.gramian.report.run.data}) and lays
 * out a {@link org.gramian.report.run.ReportPage}: a {@link org.gramian.report.run.RunView} for each run, a {@link
 * org.gramian.report.run.ComparisonView} of several, and the {@link org.gramian.report.run.ImageSheet} with all thumbnails. A view
 * holds the content of one section:
 *
 * <ul>
 *   <li>{@link org.gramian.report.run.SummaryView}, {@link org.gramian.report.run.CardView}: metrics and model card;
 *   <li>{@link org.gramian.report.run.ConfusionView}, {@link org.gramian.report.run.ReliabilityView}: from the predictions of all
 *       folds, each image a {@link org.gramian.report.run.TestPrediction};
 *   <li>{@link org.gramian.report.run.LearningView}, {@link org.gramian.report.run.SpdView}: {@linkplain
 *       org.gramian.report.chart charts};
 *   <li>{@link org.gramian.report.run.MapView}: {@linkplain org.gramian.report.embedding embeddings} of the test images.
 * </ul>
 *
 * <p>The templates {@code run.jte} and {@code run/*.jte} lay them out and escape every name; {@link
 * org.gramian.report.run.Figures} formats numbers. The script {@code report.js} adds sorting and popups; the content security
 * policy of the page allows no other script and no requests.
 */
@NullMarked
package org.gramian.report.run;

import org.jspecify.annotations.NullMarked;
