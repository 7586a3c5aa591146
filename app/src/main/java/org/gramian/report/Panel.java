package org.gramian.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.util.List;
import java.util.Locale;
import org.knowm.xchart.AnnotationLine;
import org.knowm.xchart.AnnotationText;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** One chart of lines over epochs, in the look that all curves share. */
final class Panel {
    static final int WIDTH = 900;

    private static final int LEFT = 90;

    /** Dark enough for a white page; where colour vision does not tell two apart, their marks do. */
    static final List<Color> COLOURS = List.of(
            new Color(0x0072B2),
            new Color(0xD55E00),
            new Color(0x00795B),
            new Color(0x000000),
            new Color(0xA83C8F),
            new Color(0x7A6000));

    static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 14);
    static final Color BACKGROUND = Color.WHITE;
    private static final Color GRID = new Color(0xDDDDDD);
    private static final Color BOUNDARY = new Color(0x555555);

    private static final List<Marker> MARKERS = List.of(
            SeriesMarkers.CIRCLE,
            SeriesMarkers.SQUARE,
            SeriesMarkers.TRIANGLE_UP,
            SeriesMarkers.DIAMOND,
            SeriesMarkers.TRIANGLE_DOWN,
            SeriesMarkers.CROSS);

    /** Beyond this many epochs marks would run into each other. */
    private static final int MARKED = 40;

    private final XYChart chart;
    private final int height;
    private boolean marked = true;
    private int lines;
    private double highest = Double.NEGATIVE_INFINITY;
    private double lowest = Double.POSITIVE_INFINITY;

    Panel(String title, String measure, int height) {
        this.height = height;
        this.chart = new XYChartBuilder()
                .width(WIDTH)
                .height(height)
                .title(title)
                .xAxisTitle("epoch")
                .yAxisTitle(measure)
                .build();
        style(chart.getStyler());
        chart.getStyler().setChartTitleVisible(!title.isEmpty());
    }

    private static void style(XYStyler styler) {
        styler.setBaseFont(FONT);
        styler.setChartTitleFont(FONT.deriveFont(Font.BOLD, 17f));
        styler.setAxisTitleFont(FONT.deriveFont(Font.BOLD));
        styler.setAxisTickLabelsFont(FONT);
        styler.setLegendFont(FONT);
        styler.setAnnotationTextFont(FONT);
        styler.setAnnotationTextFontColor(BOUNDARY);
        styler.setAnnotationLineColor(BOUNDARY);
        styler.setAnnotationLineStroke(
                new BasicStroke(1.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {2, 4}, 0));
        styler.setChartBackgroundColor(BACKGROUND);
        styler.setPlotBackgroundColor(BACKGROUND);
        styler.setPlotBorderVisible(false);
        styler.setPlotGridLinesColor(GRID);
        styler.setPlotGridVerticalLinesVisible(false);
        styler.setLegendVisible(false);
        styler.setLegendBorderColor(BACKGROUND);
        styler.setLegendSeriesLineLength(36);
        styler.setChartPadding(12);
        styler.setMarkerSize(7);
        styler.setLocale(Locale.ROOT);
        styler.setChartTitlePadding(10);
        styler.setYAxisDecimalPattern("#0.###");
        styler.setXAxisDecimalPattern("#0");
        styler.setYAxisLeftWidthHint(LEFT); // panels below each other begin at the same place
    }

    /** Numbers with a sign of percent. */
    Panel inPercent() {
        chart.getStyler().setYAxisDecimalPattern("#0.#'%'");
        return this;
    }

    Panel fromZero() {
        chart.getStyler().setYAxisMin(0.0);
        return this;
    }

    /** A logarithmic measure of positive values, which keep theirs until the next epoch. */
    Panel inSteps() {
        XYStyler styler = chart.getStyler();
        styler.setYAxisLogarithmic(true);
        styler.setPlotGridLinesVisible(false);
        marked = false;
        styler.setDefaultSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Step);
        return this;
    }

    /** The names of lines one below the other, in a corner that the lines leave free. */
    Panel named(LegendPosition place) {
        chart.getStyler().setLegendVisible(true);
        chart.getStyler().setLegendPosition(place);
        chart.getStyler()
                .setLegendLayout(place == LegendPosition.OutsideS ? LegendLayout.Horizontal : LegendLayout.Vertical);
        return this;
    }

    Panel withoutEpochTitle() {
        chart.getStyler().setXAxisTitleVisible(false);
        return this;
    }

    /** So many epochs along the horizontal axis, whole numbers below it. */
    Panel epochs(int count) {
        XYStyler styler = chart.getStyler();
        styler.setXAxisMin(0.0);
        styler.setXAxisMax(count + 1.0);
        styler.setXAxisTickMarkSpacingHint(Math.max(60, (WIDTH - LEFT) / (count + 1))); // or halves would be shown
        return this;
    }

    /** Draws a line; with no point there is none. The n-th has the n-th colour, mark and, after all colours, dash. */
    Panel line(String name, CurveLine line) {
        if (line.isEmpty()) {
            return this;
        }
        XYSeries series = chart.addSeries(name, line.x(), line.y());
        series.setLineColor(COLOURS.get(lines % COLOURS.size()));
        series.setMarkerColor(COLOURS.get(lines % COLOURS.size()));
        series.setMarker(line.size() > MARKED || !marked ? SeriesMarkers.NONE : MARKERS.get(lines % MARKERS.size()));
        series.setLineStyle(stroke(lines / COLOURS.size()));
        lines++;
        highest = Math.max(highest, line.highest());
        lowest = Math.min(lowest, line.lowest());
        return this;
    }

    private static BasicStroke stroke(int round) {
        if (round == 0) {
            return new BasicStroke(2.2f, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND);
        }
        return new BasicStroke(2.2f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {8f / round, 4}, 0);
    }

    /** Marks where a stage begins. */
    Panel boundary(double x) {
        chart.addAnnotation(new AnnotationLine(x, true, false));
        return this;
    }

    /** The same with words beside it, above all lines; call it when they are drawn. */
    Panel boundary(double x, String text) {
        double room = Math.max(1e-9, highest - lowest) * 0.12;
        double letters = chart.getStyler().getXAxisMax() * 0.005 * text.length();
        chart.getStyler().setYAxisMax(highest + room);
        chart.addAnnotation(new AnnotationText(text, x + letters + 0.1, highest + room / 2, false));
        return boundary(x);
    }

    int height() {
        return height;
    }

    void paint(Graphics2D graphics) {
        chart.paint(graphics, WIDTH, height);
    }
}
