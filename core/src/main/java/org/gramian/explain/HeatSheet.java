package org.gramian.explain;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.awt.image.BufferedImage;
import java.util.List;
import java.util.Locale;
import org.gramian.explain.Explanation.ChannelPair;
import org.gramian.explain.HeatImage.ColourMap;
import org.gramian.image.Image;

/**
 * Draws an explanation: the image, its heat map with a legend, and below the largest contributions of feature maps, all on one
 * scale.
 */
final class HeatSheet {
    private static final int MARGIN = 16;
    private static final int LINE = 20;
    private static final int LETTERS = 14;
    private static final int SMALL = 12;
    private static final int BAR = 10;

    /** Long side of the images. */
    private static final int SIDE = 360;

    private static final int COLUMNS = 3;

    private final Explanation why;
    private final BufferedImage image;
    private final BufferedImage grey;
    private final TextOverlay lettering;
    private final int width;
    private final int height;
    private final int smallWidth;
    private final int smallHeight;

    HeatSheet(Image image, Explanation why, TextOverlay lettering) {
        this.why = why;
        this.image = HeatImage.image(image);
        this.grey = HeatImage.grey(this.image);
        this.lettering = lettering;
        double scale = (double) SIDE / Math.max(image.width(), image.height());
        this.width = (int) Math.max(1, Math.round(image.width() * scale));
        this.height = (int) Math.max(1, Math.round(image.height() * scale));
        this.smallWidth = Math.max(1, (sheetWidth() - (COLUMNS + 1) * MARGIN) / COLUMNS);
        this.smallHeight = (int) Math.max(1, Math.min(SIDE, (long) height * smallWidth / width));
    }

    /** Leaves room for text beside narrow images. */
    private int sheetWidth() {
        return Math.max(2 * width, SIDE) + 3 * MARGIN;
    }

    private int pairsTop() {
        return MARGIN + 2 * LINE + height + MARGIN + BAR + LINE + MARGIN;
    }

    private int panelsTop() {
        return pairsTop() + (why.pairs().isEmpty() ? LINE : 2 * LINE);
    }

    BufferedImage draw() {
        int rows = Math.ceilDiv(why.pairs().size(), COLUMNS);
        int sheetHeight = panelsTop() + rows * (smallHeight + LINE + MARGIN) + MARGIN;
        BufferedImage sheet = new BufferedImage(sheetWidth(), sheetHeight, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = sheet.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
        graphics.setRenderingHint(RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
        graphics.setColor(Color.WHITE);
        graphics.fillRect(0, 0, sheet.getWidth(), sheet.getHeight());
        regions(graphics);
        pairs(graphics);
        graphics.dispose();
        return sheet;
    }

    private void regions(Graphics2D graphics) {
        int room = sheetWidth() - 2 * MARGIN;
        lettering.write(graphics, headline(), new TextOverlay.Place(MARGIN, MARGIN + LETTERS, room, LETTERS));
        String covered = String.format(
                Locale.ROOT,
                "the crops cover %.0f %% of the image",
                100 * why.heat().coverage());
        lettering.write(graphics, covered, new TextOverlay.Place(MARGIN, MARGIN + LINE + SMALL, room, SMALL));
        int top = MARGIN + 2 * LINE;
        graphics.drawImage(image, MARGIN, top, width, height, null);
        int right = 2 * MARGIN + width;
        graphics.drawImage(grey, right, top, width, height, null);
        graphics.drawImage(HeatImage.overlay(why.heat()), right, top, width, height, null);
        legend(graphics, right, top + height + MARGIN);
    }

    private String headline() {
        return String.format(
                Locale.ROOT,
                "%s: probability %.3f, score %.3f%s",
                why.className(),
                why.probability(),
                why.score(),
                why.isAnswer() ? "" : " (not the predicted class)");
    }

    private void legend(Graphics2D graphics, int left, int top) {
        int length = Math.max(width, SIDE / 2);
        for (int x = 0; x < length; x++) {
            graphics.setColor(new Color(ColourMap.rgb((double) x / length)));
            graphics.fillRect(left + x, top, 1, BAR);
        }
        lettering.write(
                graphics, "evidence: low to high", new TextOverlay.Place(left, top + BAR + SMALL + 2, length, SMALL));
    }

    private void pairs(Graphics2D graphics) {
        int room = sheetWidth() - 2 * MARGIN;
        lettering.write(graphics, why.parts().text(), new TextOverlay.Place(MARGIN, pairsTop() + SMALL, room, SMALL));
        List<ChannelPair> pairs = why.pairs();
        if (!pairs.isEmpty()) {
            colours(graphics, pairsTop() + LINE);
        }
        double full = pairs.stream()
                .mapToDouble(pair -> pair.where().magnitude())
                .max()
                .orElse(0);
        for (int i = 0; i < pairs.size(); i++) {
            int x = MARGIN + i % COLUMNS * (smallWidth + MARGIN);
            int y = panelsTop() + i / COLUMNS * (smallHeight + LINE + MARGIN);
            graphics.drawImage(grey, x, y, smallWidth, smallHeight, null);
            graphics.drawImage(HeatImage.shares(pairs.get(i).where(), full), x, y, smallWidth, smallHeight, null);
            lettering.write(
                    graphics,
                    words(pairs.get(i)),
                    new TextOverlay.Place(x, y + smallHeight + SMALL + 2, smallWidth, SMALL));
        }
    }

    private void colours(Graphics2D graphics, int top) {
        int half = (sheetWidth() - 2 * MARGIN) / 2;
        int left = MARGIN;
        for (int colour : List.of(HeatImage.RAISES, HeatImage.LOWERS)) {
            graphics.setColor(new Color(colour));
            graphics.fillRect(left, top + 2, BAR, BAR);
            lettering.write(
                    graphics,
                    colour == HeatImage.RAISES ? "raises the score" : "lowers the score; one scale for all panels",
                    new TextOverlay.Place(left + BAR + 4, top + SMALL, half - BAR - 4, SMALL));
            left += half;
        }
    }

    private String words(ChannelPair pair) {
        String maps = pair.first() == pair.second()
                ? "map " + pair.first()
                : "maps " + pair.first() + " and " + pair.second();
        return String.format(Locale.ROOT, "%s: %+.4f", maps, pair.contribution());
    }

    /** Text on an image; writes nothing if Java has no fonts. */
    static final class TextOverlay {
        private static final Color INK = new Color(0x22, 0x22, 0x22);

        private final boolean present;

        private TextOverlay(boolean present) {
            this.present = present;
        }

        /** Uses Java's fonts, if there are any. */
        static TextOverlay find() {
            try {
                new TextLayout("a", font(12), new FontRenderContext(null, true, true)).getBounds();
                return new TextOverlay(true);
            } catch (Error | RuntimeException missing) { // depends on what is missing: fonts or a library
                return none();
            }
        }

        static TextOverlay none() {
            return new TextOverlay(false);
        }

        private static Font font(int size) {
            return new Font(Font.SANS_SERIF, Font.PLAIN, size);
        }

        boolean isPresent() {
            return present;
        }

        /** Writes a line with baseline y, shortened with an ellipsis to the width. */
        void write(Graphics2D graphics, String line, Place place) {
            if (!present) {
                return;
            }
            graphics.setFont(font(place.size()));
            graphics.setColor(INK);
            String shown = line;
            while (shown.length() > 1 && graphics.getFontMetrics().stringWidth(shown) > place.width()) {
                shown = shown.substring(0, shown.length() - 2) + "…";
            }
            graphics.drawString(shown, place.x(), place.y());
        }

        /** Start, width and font size of a line, in pixels. */
        record Place(int x, int y, int width, int size) {}
    }
}
