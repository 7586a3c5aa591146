package org.gramian.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.gramian.image.audit.AuditReport.Contents;

/**
 * Scatter plot of image sizes, width against height, on logarithmic scales.
 *
 * @param dots largest first, so that none hides another
 * @param ticks powers of two of both axes
 */
public record SizePlot(List<Dot> dots, List<Tick> ticks) {
    /** Side of the square plot area in SVG units, without labels. */
    public static final int SIDE = 360;

    /** Cell size: dots in the same cell are merged. */
    private static final int GRAIN = 4;

    private static final double SMALLEST = 3;
    private static final double LARGEST = 16;

    /** Images of similar size: the radius grows with their number, the text is a tooltip. */
    public record Dot(int x, int y, double radius, String text) {}

    /** Side length in pixels and its distance from the left or the bottom. */
    public record Tick(int pixels, int at) {}

    static SizePlot of(List<Contents.SizeCount> sizes) {
        int least = sizes.stream()
                .mapToInt(size -> Math.min(size.width(), size.height()))
                .min()
                .orElse(1);
        int most = sizes.stream()
                .mapToInt(size -> Math.max(size.width(), size.height()))
                .max()
                .orElse(1);
        double low = Math.floor(log2(least) * 2 - 1) / 2;
        double high = Math.ceil(log2(most) * 2 + 1) / 2;
        return new SizePlot(dots(sizes, low, high), ticks(low, high));
    }

    private static double log2(double value) {
        return Math.log(value) / Math.log(2);
    }

    private static int place(double pixels, double low, double high) {
        return (int) Math.round((log2(pixels) - low) / (high - low) * SIDE);
    }

    private static List<Tick> ticks(double low, double high) {
        List<Tick> ticks = new ArrayList<>();
        for (int power = (int) Math.ceil(low); power <= high; power++) {
            ticks.add(new Tick(1 << Math.max(0, power), place(1 << Math.max(0, power), low, high)));
        }
        return ticks;
    }

    /** Cell of the plot with the images in it. */
    private record Cell(Contents.SizeCount example, int images) {
        Cell and(Cell other) {
            return new Cell(other.example.images() > example.images() ? other.example : example, images + other.images);
        }
    }

    private static List<Dot> dots(List<Contents.SizeCount> sizes, double low, double high) {
        Map<Integer, Cell> cells = new TreeMap<>();
        int most = 1;
        for (Contents.SizeCount size : sizes) {
            int x = place(size.width(), low, high) / GRAIN;
            int y = place(size.height(), low, high) / GRAIN;
            Cell cell = cells.merge(x << 16 | y, new Cell(size, size.images()), Cell::and);
            most = Math.max(most, cell.images);
        }
        List<Dot> dots = new ArrayList<>();
        for (Cell cell : cells.values()) {
            Contents.SizeCount size = cell.example;
            double radius = SMALLEST + (LARGEST - SMALLEST) * Math.sqrt((double) cell.images / most);
            String about = cell.images > size.images() ? "about " : "";
            dots.add(new Dot(
                    place(size.width(), low, high),
                    SIDE - place(size.height(), low, high),
                    Math.round(radius * 10) / 10.0,
                    about + size.width() + "×" + size.height() + ": " + cell.images
                            + (cell.images == 1 ? " image" : " images")));
        }
        dots.sort((a, b) -> Double.compare(b.radius, a.radius));
        return dots;
    }
}
