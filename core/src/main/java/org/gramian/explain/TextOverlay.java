package org.gramian.explain;

import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;

/** Words on an image, where this Java has fonts to write them with; without fonts there are none, and nothing fails. */
final class TextOverlay {
    private static final Color INK = new Color(0x22, 0x22, 0x22);

    private final boolean present;

    private TextOverlay(boolean present) {
        this.present = present;
    }

    /** With the fonts of this Java, if it has any. */
    static TextOverlay find() {
        try {
            new TextLayout("a", font(12), new FontRenderContext(null, true, true)).getBounds();
            return new TextOverlay(true);
        } catch (Error
                | RuntimeException missing) { // which of them depends on what is missing: fonts, their list, a library
            return none();
        }
    }

    /** As on a machine without fonts. */
    static TextOverlay none() {
        return new TextOverlay(false);
    }

    private static Font font(int size) {
        return new Font(Font.SANS_SERIF, Font.PLAIN, size);
    }

    /** Whether words can be written. */
    boolean isPresent() {
        return present;
    }

    /** Writes a line whose letters stand on y, no longer than a width: what does not fit ends in an ellipsis. */
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

    /** Where a line begins, how long it may be, and the size of its letters, in pixels. */
    record Place(int x, int y, int width, int size) {}
}
