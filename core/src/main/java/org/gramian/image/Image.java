package org.gramian.image;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.util.Objects;

/**
 * A decoded image: opaque, upright RGB bytes, {@code [height, width, 3]}. The array is not copied and must not be changed.
 *
 * @since 0.1
 */
public final class Image {
    private final int width;
    private final int height;
    private final byte[] rgb;

    /** @param rgb red, green and blue of each pixel, row by row, {@code 3·width·height} bytes */
    public Image(int width, int height, byte[] rgb) {
        if (width < 1 || height < 1 || rgb.length != 3L * width * height) {
            throw new IllegalArgumentException("an image of " + width + "×" + height + " has " + 3L * width * height
                    + " bytes and at least one pixel, found " + rgb.length + " bytes");
        }
        this.width = width;
        this.height = height;
        this.rgb = Objects.requireNonNull(rgb);
    }

    /**
     * Converts an AWT image as {@link ImageReader} does: profiles ignored, alpha over white.
     *
     * @throws IllegalArgumentException if its sample type is not supported
     */
    public static Image of(BufferedImage image) {
        try {
            SampleConverter.check(image.getColorModel(), image.getSampleModel());
            return new SampleConverter(image).image();
        } catch (UnreadableException unknown) {
            throw new IllegalArgumentException(unknown.getMessage(), unknown);
        }
    }

    /** Returns a copy as an AWT image of type {@link BufferedImage#TYPE_3BYTE_BGR}. */
    public BufferedImage toBufferedImage() {
        BufferedImage buffered = new BufferedImage(width, height, BufferedImage.TYPE_3BYTE_BGR);
        byte[] bgr = ((DataBufferByte) buffered.getRaster().getDataBuffer()).getData();
        for (int i = 0; i < rgb.length; i += 3) {
            bgr[i] = rgb[i + 2];
            bgr[i + 1] = rgb[i + 1];
            bgr[i + 2] = rgb[i];
        }
        return buffered;
    }

    /** Returns the width in pixels. */
    public int width() {
        return width;
    }

    /** Returns the height in pixels. */
    public int height() {
        return height;
    }

    /** Returns the array itself; do not change it. */
    public byte[] rgb() {
        return rgb;
    }

    /**
     * Returns a crop of the image.
     *
     * @param x first column
     * @param y first row
     * @throws IllegalArgumentException if the part is empty or not inside the image
     */
    public Image crop(int x, int y, int partWidth, int partHeight) {
        boolean inside = x >= 0 && y >= 0 && x <= width - partWidth && y <= height - partHeight;
        if (!inside || partWidth < 1 || partHeight < 1) {
            throw new IllegalArgumentException("expected a part inside an image of " + this + ", found " + partWidth
                    + "×" + partHeight + " from column " + x + " and row " + y);
        }
        byte[] part = new byte[3 * partWidth * partHeight];
        for (int row = 0; row < partHeight; row++) {
            System.arraycopy(rgb, 3 * ((y + row) * width + x), part, 3 * row * partWidth, 3 * partWidth);
        }
        return new Image(partWidth, partHeight, part);
    }

    @Override
    public String toString() {
        return width + "×" + height;
    }
}
