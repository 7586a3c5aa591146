package org.gramian.explain;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.function.IntBinaryOperator;
import javax.imageio.ImageIO;
import org.gramian.explain.Explanation.ChannelPair;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.image.Image;

/**
 * Draws heat maps: as a transparent overlay, or as a sheet with the image.
 *
 * @since 0.1
 */
public final class HeatImage {
    /** Largest opacity of the overlay, of 255: the image stays visible. */
    private static final int MAX_OPACITY = 190;

    /** ARGB colour of pixels that no crop covers. */
    private static final int UNSEEN = 0x80808080;

    /** Orange and blue, distinguishable with red-green colour blindness. */
    private static final int RAISES = 0xff8c00;

    private static final int LOWERS = 0x1e74ff;

    /** The colour map plasma (Smith and van der Walt, 2015, public domain). */
    private static final int[] PLASMA = {
        0x0d0887, 0x46039f, 0x7201a8, 0x9c179e, 0xbd3786, 0xd8576b, 0xed7953, 0xfb9f3a, 0xfdca26, 0xf0f921
    };

    private HeatImage() {}

    /** Draws the heat map at its own size, with an opacity proportional to the strength. */
    public static BufferedImage overlay(HeatMap heat) {
        return drawn(heat.width(), heat.height(), BufferedImage.TYPE_INT_ARGB, (x, y) -> {
            return heat.covers(x, y) ? coloured(heat.strength(x, y)) : UNSEEN;
        });
    }

    /**
     * Draws a map of strengths from 0 to 1 with an opacity proportional to them.
     *
     * @param strengths row by row
     */
    public static BufferedImage overlay(int width, int height, float[] strengths) {
        return drawn(width, height, BufferedImage.TYPE_INT_ARGB, (x, y) -> coloured(strengths[y * width + x]));
    }

    private static int coloured(float strength) {
        return (Math.round(MAX_OPACITY * strength) << 24) | plasma(strength);
    }

    /** Draws positive and negative values in two colours, with an opacity proportional to the magnitude. */
    private static BufferedImage shares(HeatMap heat, double full) {
        return drawn(heat.width(), heat.height(), BufferedImage.TYPE_INT_ARGB, (x, y) -> {
            double part = full > 0 ? Math.clamp(heat.value(x, y) / full, -1.0, 1.0) : 0;
            int alpha = (int) Math.round(MAX_OPACITY * Math.abs(part));
            return heat.covers(x, y) ? (alpha << 24) | (part > 0 ? RAISES : LOWERS) : UNSEEN;
        });
    }

    private static BufferedImage drawn(int width, int height, int type, IntBinaryOperator colour) {
        BufferedImage image = new BufferedImage(width, height, type);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                image.setRGB(x, y, colour.applyAsInt(x, y));
            }
        }
        return image;
    }

    /** Draws the image, its heat map, a legend, and the largest contributions of feature maps; no text if Java finds no fonts. */
    public static BufferedImage sheet(Image image, Explanation why) {
        return sheet(image, why, hasFonts());
    }

    static BufferedImage sheet(Image image, Explanation why, boolean lettered) {
        return new SheetPainter(image, why, lettered).draw();
    }

    static boolean hasFonts() {
        try {
            new TextLayout("a", SheetPainter.font(12), new FontRenderContext(null, true, true)).getBounds();
            return true;
        } catch (Error | RuntimeException missing) { // depends on what is missing: fonts or a library
            return false;
        }
    }

    /** Returns an image as a PNG file. */
    public static byte[] png(BufferedImage image) {
        try (ByteArrayOutputStream bytes = new ByteArrayOutputStream()) {
            ImageIO.write(image, "png", bytes);
            return bytes.toByteArray();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // writes to memory
        }
    }

    /** Returns the colour {@code 0xRRGGBB} of a number, clamped to 0..1, linear between those of {@link #PLASMA}. */
    static int plasma(double number) {
        double place = Math.clamp(number, 0.0, 1.0) * (PLASMA.length - 1);
        int below = Math.min((int) place, PLASMA.length - 2);
        double part = place - below;
        int rgb = 0;
        for (int shift = 16; shift >= 0; shift -= 8) {
            int a = (PLASMA[below] >> shift) & 0xff;
            int b = (PLASMA[below + 1] >> shift) & 0xff;
            rgb |= (int) Math.round(a + part * (b - a)) << shift;
        }
        return rgb;
    }

    /** Draws a sheet; panels of feature maps have one scale. */
    private static final class SheetPainter {
        private static final Color INK = new Color(0x22, 0x22, 0x22);
        private static final int MARGIN = 16;
        private static final int LINE = 20;
        private static final int LETTERS = 14;
        private static final int SMALL = 12;
        private static final int BAR = 10;

        /** Long side of the images. */
        private static final int SIDE = 360;

        /** Room for the longest line beside narrow images. */
        private static final int MIN_WIDTH = 640;

        private static final int PATCH_GAP = 4;

        private static final int COLUMNS = 3;

        private final Explanation why;
        private final boolean lettered;
        private final BufferedImage image;
        private final BufferedImage grey;
        private final int width;
        private final int height;
        private final int sheetWidth;
        private final int smallWidth;
        private final int smallHeight;
        private final int panelWidth;
        private final int panelHeight;
        private final int patchSide;
        private final boolean patches;
        private final int pairsTop;
        private final int panelsTop;
        private final BufferedImage sheet;
        private final Graphics2D graphics;

        SheetPainter(Image image, Explanation why, boolean lettered) {
            this.why = why;
            this.lettered = lettered;
            byte[] rgb = image.rgb();
            this.image = image.toBufferedImage();
            // Grey, so that its colours do not mix with those of the heat map.
            this.grey = drawn(image.width(), image.height(), BufferedImage.TYPE_INT_RGB, (x, y) -> {
                int i = 3 * (y * image.width() + x);
                int light = (299 * (rgb[i] & 0xff) + 587 * (rgb[i + 1] & 0xff) + 114 * (rgb[i + 2] & 0xff)) / 1000;
                return (light << 16) | (light << 8) | light;
            });
            double scale = (double) SIDE / Math.max(image.width(), image.height());
            this.width = (int) Math.max(1, Math.round(image.width() * scale));
            this.height = (int) Math.max(1, Math.round(image.height() * scale));
            this.sheetWidth = Math.max(2 * width + 3 * MARGIN, MIN_WIDTH);
            this.smallWidth = Math.max(1, (sheetWidth - (COLUMNS + 1) * MARGIN) / COLUMNS);
            this.smallHeight = (int) Math.max(1, Math.min(SIDE / 2, (long) height * smallWidth / width));
            this.panelWidth = Math.max(1, Math.min(smallWidth, width * smallHeight / height));
            this.patchSide = (smallWidth - (Explanation.PATCHES - 1) * PATCH_GAP) / Explanation.PATCHES;
            this.patches = why.pairs().stream().anyMatch(pair -> !pair.patches().isEmpty());
            this.panelHeight = smallHeight + LINE + MARGIN + (patches ? patchSide + PATCH_GAP : 0);
            this.pairsTop = MARGIN + 2 * LINE + height + MARGIN + BAR + LINE + MARGIN;
            this.panelsTop = pairsTop + (why.pairs().isEmpty() ? LINE : 2 * LINE);
            int rows = Math.ceilDiv(why.pairs().size(), COLUMNS);
            int sheetHeight = panelsTop + rows * panelHeight + (patches ? LINE : 0) + MARGIN;
            this.sheet = new BufferedImage(sheetWidth, sheetHeight, BufferedImage.TYPE_INT_RGB);
            this.graphics = sheet.createGraphics();
        }

        BufferedImage draw() {
            graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
            graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
            graphics.setColor(Color.WHITE);
            graphics.fillRect(0, 0, sheet.getWidth(), sheet.getHeight());
            regions();
            pairs();
            graphics.dispose();
            return sheet;
        }

        private void regions() {
            int room = sheetWidth - 2 * MARGIN;
            String headline = String.format(
                    Locale.ROOT,
                    "%s: probability %.3f, score %.3f%s",
                    why.className(),
                    why.probability(),
                    why.score(),
                    why.isAnswer() ? "" : " (not the predicted class)");
            write(headline, MARGIN, MARGIN + LETTERS, room, LETTERS);
            String covered = String.format(
                    Locale.ROOT,
                    "the crops cover %.0f %% of the image",
                    100 * why.heat().coverage());
            write(covered, MARGIN, MARGIN + LINE + SMALL, room, SMALL);
            int top = MARGIN + 2 * LINE;
            graphics.drawImage(image, MARGIN, top, width, height, null);
            int right = 2 * MARGIN + width;
            graphics.drawImage(grey, right, top, width, height, null);
            graphics.drawImage(overlay(why.heat()), right, top, width, height, null);
            int length = Math.max(width, SIDE / 2);
            int legend = top + height + MARGIN;
            for (int x = 0; x < length; x++) {
                graphics.setColor(new Color(plasma((double) x / length)));
                graphics.fillRect(right + x, legend, 1, BAR);
            }
            write("evidence: low to high", right, legend + BAR + SMALL + 2, length, SMALL);
        }

        private void pairs() {
            int room = sheetWidth - 2 * MARGIN;
            write(why.parts().text(), MARGIN, pairsTop + SMALL, room, SMALL);
            List<ChannelPair> pairs = why.pairs();
            if (!pairs.isEmpty()) {
                colour(RAISES, MARGIN, room / 2, "raises the score");
                colour(LOWERS, MARGIN + room / 2, room / 2, "lowers the score; one scale for all panels");
            }
            double full = pairs.stream()
                    .mapToDouble(pair -> pair.where().magnitude())
                    .max()
                    .orElse(0);
            for (int i = 0; i < pairs.size(); i++) {
                ChannelPair pair = pairs.get(i);
                int x = MARGIN + i % COLUMNS * (smallWidth + MARGIN);
                int y = panelsTop + i / COLUMNS * panelHeight;
                graphics.drawImage(grey, x, y, panelWidth, smallHeight, null);
                graphics.drawImage(shares(pair.where(), full), x, y, panelWidth, smallHeight, null);
                for (int k = 0; k < pair.patches().size(); k++) {
                    BufferedImage patch = pair.patches().get(k).image();
                    int left = x + k * (patchSide + PATCH_GAP);
                    graphics.drawImage(patch, left, y + smallHeight + LINE + PATCH_GAP, patchSide, patchSide, null);
                }
                String maps = pair.first() == pair.second()
                        ? "map " + pair.first()
                        : "maps " + pair.first() + " and " + pair.second();
                String text = String.format(Locale.ROOT, "%s: %+.4f", maps, pair.contribution());
                write(text, x, y + smallHeight + SMALL + 2, smallWidth, SMALL);
            }
            if (patches) {
                write(
                        "below each: the parts of training images that excite it most",
                        MARGIN,
                        sheet.getHeight() - MARGIN,
                        room,
                        SMALL);
            }
        }

        private void colour(int rgb, int left, int room, String meaning) {
            int top = pairsTop + LINE;
            graphics.setColor(new Color(rgb));
            graphics.fillRect(left, top + 2, BAR, BAR);
            write(meaning, left + BAR + 4, top + SMALL, room - BAR - 4, SMALL);
        }

        private static Font font(int size) {
            return new Font(Font.SANS_SERIF, Font.PLAIN, size);
        }

        /** Writes a line with baseline y, shortened with an ellipsis to the room; nothing without fonts. */
        private void write(String line, int x, int y, int room, int size) {
            if (!lettered) {
                return;
            }
            graphics.setFont(font(size));
            graphics.setColor(INK);
            String shown = line;
            while (shown.length() > 1 && graphics.getFontMetrics().stringWidth(shown) > room) {
                shown = shown.substring(0, shown.length() - 2) + "…";
            }
            graphics.drawString(shown, x, y);
        }
    }
}
