/**
 * The report of runs: one HTML file that needs nothing else.
 *
 * <p>{@link org.gramian.report.run.RunReport} is the way in. It reads each run ({@link org.gramian.report.run.material}) and
 * lays out a {@link org.gramian.report.run.ReportPage}: a {@link org.gramian.report.run.RunView} for each run, a {@link
 * org.gramian.report.run.ComparisonView} of several, and the {@link org.gramian.report.run.ImageSheet} that holds every small
 * image once. A view is what one part of the page shows, computed and in words:
 *
 * <ul>
 *   <li>{@link org.gramian.report.run.SummaryView}, {@link org.gramian.report.run.CardView}: sentence, figures, model;
 *   <li>{@link org.gramian.report.run.ConfusionView}, {@link org.gramian.report.run.ReliabilityView}: from {@code Outcomes}, the
 *       answers of all folds, each image a {@link org.gramian.report.run.Shown};
 *   <li>{@link org.gramian.report.run.LearningView}, {@link org.gramian.report.run.SpdView}: {@linkplain
 *       org.gramian.report.chart charts};
 *   <li>{@link org.gramian.report.run.MapView}: the test images as {@linkplain org.gramian.report.embedding points}.
 * </ul>
 *
 * <p>The templates {@code run.jte} and {@code run/*.jte} set them and escape every name; {@link
 * org.gramian.report.run.Figures} spells numbers. The script {@code report.js} only adds comfort, and the page's policy
 * allows nothing else to run or to be loaded.
 */
@NullMarked
package org.gramian.report.run;

import org.jspecify.annotations.NullMarked;
