package org.gramian.report.chart;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Line2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.gramian.basis.AtomicFile;
import org.gramian.report.chart.Chart.Line;

/**
 * Charts below each other as a PNG image, in the colours and dash patterns of the HTML reports.
 *
 * <p>Drawn at twice its size, so that it stays sharp on screens of high resolution and in print. Needs fonts, but no
 * display. Bands are not drawn.
 *
 * @param title heading of the image
 * @param charts from the top to the bottom
 */
public record ChartImage(String title, List<Chart> charts) {
    /** Width of the image, before it is drawn at twice its size. */
    public static final int WIDTH = 900;

    /** The light palette {@code --k0} to {@code --k7} of the template {@code run/style.jte}. */
    public static final List<Color> COLOURS = List.of(
            new Color(0x2a5fb0),
            new Color(0xc2410c),
            new Color(0x157f3d),
            new Color(0xb0206f),
            new Color(0x6b46c1),
            new Color(0x0e7490),
            new Color(0x8a6d00),
            new Color(0x475569));

    /** Dash patterns {@code .d0} to {@code .d3} of that template. */
    private static final List<float[]> DASHES =
            List.of(new float[0], new float[] {7, 4}, new float[] {2, 3}, new float[] {9, 3, 2, 3});

    /** Colour of the page. */
    public static final Color BACKGROUND = Color.WHITE;

    private static final Color TEXT = new Color(0x1b1f24);
    private static final Color GRID = new Color(0xd8dee4);
    private static final Color RULE = new Color(0x555555);
    private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 14);
    private static final Font HEADING = FONT.deriveFont(Font.BOLD);
    private static final Font TITLE = FONT.deriveFont(Font.BOLD, 17f);

    private static final int SCALE = 2;
    private static final int LEFT = 70;
    private static final int RIGHT = 30;
    private static final int PLOT = WIDTH - LEFT - RIGHT;
    private static final int ROW = 24;
    private static final int SAMPLE = 36;

    public ChartImage {
        charts = List.copyOf(charts);
    }

    /**
     * Writes a PNG file atomically.
     *
     * @throws IOException if the file cannot be written or Java finds no fonts
     */
    public void write(Path file) throws IOException {
        requireFonts();
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        ImageIO.write(draw(), "png", png);
        AtomicFile.put(file, partial -> Files.write(partial, png.toByteArray()));
    }

    /** Throws an exception where drawing would end in an {@link Error}, which would end a training of hours. */
    private static void requireFonts() throws IOException {
        try {
            new TextLayout("a", FONT, new FontRenderContext(null, true, true)).getBounds();
        } catch (Error
                | RuntimeException missing) { // which of them depends on what is missing: fonts, their list, a library
            throw new IOException(
                    "cannot draw charts: Java finds no fonts; install fontconfig and a font such as DejaVu Sans",
                    missing);
        }
    }

    /** Returns the image itself. */
    public BufferedImage draw() {
        BufferedImage measured = new BufferedImage(1, 1, BufferedImage.TYPE_INT_RGB);
        int height = paint(measured.createGraphics());
        BufferedImage image = new BufferedImage(SCALE * WIDTH, SCALE * height, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.scale(SCALE, SCALE);
        graphics.setColor(BACKGROUND);
        graphics.fillRect(0, 0, WIDTH, height);
        paint(graphics);
        graphics.dispose();
        return image;
    }

    /** Paints everything and returns the height, which depends on the rows of the legends. */
    private int paint(Graphics2D graphics) {
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
        int height = charts.size() == 1 ? 420 : 220;
        int y = 36;
        text(graphics, TITLE, title, LEFT, y, 0);
        for (Chart chart : charts) {
            y += 34;
            text(graphics, HEADING, chart.title(), LEFT, y, 0);
            y = legend(graphics, chart, y) + 28;
            axes(graphics, chart, y, height);
            for (int i = 0; i < chart.lines().size(); i++) {
                line(graphics, chart, i, y, height);
            }
            y += height + 42;
        }
        return y + 14;
    }

    /** Draws text with its start (0), middle (0.5) or end (1) at x. */
    private static void text(Graphics2D graphics, Font font, String text, double x, double y, double anchor) {
        graphics.setColor(TEXT);
        graphics.setFont(font);
        graphics.drawString(text, (float) (x - anchor * width(graphics, text)), (float) y);
    }

    private static double width(Graphics2D graphics, String text) {
        return graphics.getFontMetrics(FONT).stringWidth(text);
    }

    /** Draws the entries from the right of the heading on, in as many rows as they need; returns the last baseline. */
    private static int legend(Graphics2D graphics, Chart chart, int top) {
        double x = LEFT + graphics.getFontMetrics(HEADING).stringWidth(chart.title()) + ROW;
        int y = top;
        for (int i = 0; i < chart.lines().size() && chart.hasLegend(); i++) {
            String name = chart.lines().get(i).name();
            if (chart.lines().get(i).values().isEmpty()) {
                continue;
            }
            double end = x + SAMPLE + 8 + width(graphics, name);
            if (end > WIDTH - RIGHT) {
                end += LEFT - x;
                x = LEFT;
                y += ROW;
            }
            style(graphics, i);
            graphics.draw(new Line2D.Double(x, y - 5, x + SAMPLE, y - 5));
            text(graphics, FONT, name, x + SAMPLE + 8, y, 0);
            x = end + ROW;
        }
        return y;
    }

    private static void style(Graphics2D graphics, int line) {
        float[] dash = DASHES.get(Chart.dash(line));
        graphics.setColor(COLOURS.get(Chart.colour(line)));
        graphics.setStroke(new BasicStroke(
                2.2f,
                dash.length == 0 ? BasicStroke.CAP_ROUND : BasicStroke.CAP_BUTT,
                BasicStroke.JOIN_ROUND,
                1,
                dash.length == 0 ? null : dash,
                0));
    }

    private static void axes(Graphics2D graphics, Chart chart, int top, int height) {
        graphics.setStroke(new BasicStroke(1));
        for (Scale.Tick tick : chart.y().ticks()) {
            double y = top + (1 - tick.at()) * height;
            graphics.setColor(GRID);
            graphics.draw(new Line2D.Double(LEFT, y, LEFT + PLOT, y));
            text(graphics, FONT, tick.text(), LEFT - 9, y + 5, 1);
        }
        for (Scale.Tick tick : chart.x().ticks()) {
            text(graphics, FONT, tick.text(), LEFT + tick.at() * PLOT, top + height + 20, 0.5);
        }
        text(graphics, FONT, chart.x().title(), LEFT + PLOT / 2.0, top + height + 38, 0.5);
        graphics.setStroke(new BasicStroke(1.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, new float[] {4}, 0));
        for (Chart.Rule rule : chart.rules()) {
            double x = LEFT + chart.x().scale().at(rule.at()) * PLOT;
            graphics.setColor(RULE);
            graphics.draw(new Line2D.Double(x, top - 16, x, top + height));
            text(graphics, FONT, rule.text(), x + 6, top - 5, 0);
        }
    }

    private static void line(Graphics2D graphics, Chart chart, int number, int top, int height) {
        Line line = chart.lines().get(number);
        style(graphics, number);
        Path2D path = new Path2D.Double();
        boolean pen = false;
        for (int i = 0; i < line.x().size(); i++) {
            double x = LEFT + chart.x().scale().at(line.x().get(i)) * PLOT;
            double value = line.y().get(i);
            double y = top + (1 - chart.y().scale().at(value)) * height;
            if (!Double.isFinite(value)) {
                pen = false;
                continue;
            }
            if (pen) {
                path.lineTo(x, y);
            } else {
                path.moveTo(x, y);
            }
            pen = true;
            if (Chart.marked(line)) {
                graphics.fill(new Ellipse2D.Double(x - 3.5, y - 3.5, 7, 7));
            }
        }
        graphics.draw(path);
    }
}
