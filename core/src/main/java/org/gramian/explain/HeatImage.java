package org.gramian.explain;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import javax.imageio.ImageIO;
import org.gramian.explain.HeatSheet.TextOverlay;
import org.gramian.image.Image;

/** Draws heat maps: as a transparent overlay, or as a sheet with the image. */
public final class HeatImage {
    /** Largest opacity of the overlay, of 255: the image stays visible. */
    private static final int MOST_OPAQUE = 190;

    /** ARGB colour of pixels that no crop covers. */
    private static final int UNSEEN = 0x80808080;

    /** Orange and blue, distinguishable with red-green colour blindness. */
    static final int RAISES = 0xff8c00;

    static final int LOWERS = 0x1e74ff;

    private HeatImage() {}

    /** Draws the heat map at its own size, with an opacity proportional to the strength. */
    public static BufferedImage overlay(HeatMap heat) {
        BufferedImage image = new BufferedImage(heat.width(), heat.height(), BufferedImage.TYPE_INT_ARGB);
        for (int y = 0; y < heat.height(); y++) {
            for (int x = 0; x < heat.width(); x++) {
                float strength = heat.strength(x, y);
                int alpha = Math.round(MOST_OPAQUE * strength);
                image.setRGB(x, y, heat.covers(x, y) ? (alpha << 24) | ColourMap.rgb(strength) : UNSEEN);
            }
        }
        return image;
    }

    /**
     * Draws positive and negative values in two colours, with an opacity proportional to the magnitude.
     *
     * @param full magnitude of full opacity
     */
    static BufferedImage shares(HeatMap heat, double full) {
        BufferedImage image = new BufferedImage(heat.width(), heat.height(), BufferedImage.TYPE_INT_ARGB);
        for (int y = 0; y < heat.height(); y++) {
            for (int x = 0; x < heat.width(); x++) {
                double part = full > 0 ? Math.clamp(heat.value(x, y) / full, -1.0, 1.0) : 0;
                int alpha = (int) Math.round(MOST_OPAQUE * Math.abs(part));
                image.setRGB(x, y, heat.covers(x, y) ? (alpha << 24) | (part > 0 ? RAISES : LOWERS) : UNSEEN);
            }
        }
        return image;
    }

    /**
     * A drawn explanation.
     *
     * @param lettered whether it has text: false if Java finds no fonts
     */
    public record Sheet(BufferedImage image, boolean lettered) {}

    /** Draws the image, its heat map, a legend, and the largest contributions of feature maps. */
    public static Sheet sheet(Image image, Explanation why) {
        TextOverlay lettering = TextOverlay.find();
        return new Sheet(new HeatSheet(image, why, lettering).draw(), lettering.isPresent());
    }

    /** Encodes an image as PNG. */
    public static byte[] png(BufferedImage image) {
        try (ByteArrayOutputStream bytes = new ByteArrayOutputStream()) {
            ImageIO.write(image, "png", bytes);
            return bytes.toByteArray();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // writes to memory
        }
    }

    /** Converts an image to one of {@code java.awt}. */
    static BufferedImage image(Image image) {
        BufferedImage buffered = new BufferedImage(image.width(), image.height(), BufferedImage.TYPE_INT_RGB);
        byte[] rgb = image.rgb();
        for (int i = 0; i < rgb.length; i += 3) {
            int pixel = ((rgb[i] & 0xff) << 16) | ((rgb[i + 1] & 0xff) << 8) | (rgb[i + 2] & 0xff);
            buffered.setRGB(i / 3 % image.width(), i / 3 / image.width(), pixel);
        }
        return buffered;
    }

    /** Returns the image in grey, so that its colours do not mix with those of the heat map. */
    static BufferedImage grey(BufferedImage image) {
        BufferedImage grey = new BufferedImage(image.getWidth(), image.getHeight(), BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                int rgb = image.getRGB(x, y);
                int light = (299 * ((rgb >> 16) & 0xff) + 587 * ((rgb >> 8) & 0xff) + 114 * (rgb & 0xff)) / 1000;
                grey.setRGB(x, y, (light << 16) | (light << 8) | light);
            }
        }
        return grey;
    }

    /** The colour map plasma (Smith and van der Walt, 2015, public domain), linear between ten colours. */
    static final class ColourMap {
        private static final int[] COLOURS = {
            0x0d0887, 0x46039f, 0x7201a8, 0x9c179e, 0xbd3786, 0xd8576b, 0xed7953, 0xfb9f3a, 0xfdca26, 0xf0f921
        };

        private ColourMap() {}

        /** Returns the colour {@code 0xRRGGBB} of a number, clamped to 0..1. */
        static int rgb(double number) {
            double place = Math.clamp(number, 0.0, 1.0) * (COLOURS.length - 1);
            int below = Math.min((int) place, COLOURS.length - 2);
            double part = place - below;
            int rgb = 0;
            for (int shift = 16; shift >= 0; shift -= 8) {
                int a = (COLOURS[below] >> shift) & 0xff;
                int b = (COLOURS[below + 1] >> shift) & 0xff;
                rgb |= (int) Math.round(a + part * (b - a)) << shift;
            }
            return rgb;
        }
    }
}
