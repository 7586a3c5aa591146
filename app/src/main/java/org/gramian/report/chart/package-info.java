/**
 * Charts, independent of runs and images.
 *
 * <p>A {@link org.gramian.report.chart.Scale} maps values to positions along an {@link org.gramian.report.chart.Chart.Axis}. A {@link
 * org.gramian.report.chart.Chart} has two axes and {@linkplain org.gramian.report.chart.Chart.Line lines}; the template {@code
 * run/chart.jte} draws it as SVG. A {@link org.gramian.report.chart.Marker} has
 * a colour and a shape for each of many classes.
 *
 * <pre>{@code
 * Chart chart = Chart.of("loss", Axis.of("epoch", Scale.linear(1, 9)), Axis.of("loss", Scale.linear(0, 2.3)))
 *         .with(Line.of("training", epochs, losses));
 * }</pre>
 */
@NullMarked
package org.gramian.report.chart;

import org.jspecify.annotations.NullMarked;
