/**
 * Drawings for pages: records that hold coordinates, which a template sets as SVG. Nothing here knows of runs or images.
 *
 * <p>A {@link org.gramian.report.chart.Scale} places values along an axis, linear or logarithmic, and has its ticks. A
 * {@link org.gramian.report.chart.Chart} is two of them with {@link org.gramian.report.chart.Series}: lines and bands.
 * {@link org.gramian.report.chart.Marker} has a colour and a shape for each of many kinds.
 *
 * <pre>{@code
 * Chart chart = Chart.of("loss", Axis.of("epoch", Scale.linear(1, 9)), Axis.of("loss", Scale.linear(0, 2.3)))
 *         .with(Line.of("training", epochs, losses));
 * }</pre>
 *
 * <p>The y axis of SVG points down: {@code Chart} turns values round, so that everything else counts upwards.
 */
@NullMarked
package org.gramian.report.chart;

import org.jspecify.annotations.NullMarked;
