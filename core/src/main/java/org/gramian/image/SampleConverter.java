package org.gramian.image;

import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ColorModel;
import java.awt.image.DataBuffer;
import java.awt.image.DataBufferByte;
import java.awt.image.DataBufferInt;
import java.awt.image.DirectColorModel;
import java.awt.image.IndexColorModel;
import java.awt.image.PixelInterleavedSampleModel;
import java.awt.image.Raster;
import java.awt.image.SampleModel;
import java.util.Arrays;
import org.gramian.image.ImageInfo.Colour;

/**
 * Converts the samples of a decoded image to opaque RGB bytes, without Java's colour management.
 *
 * <p>Samples become bytes as {@code round(255·v / largest)}. Gray values are copied to red, green and blue (Java's conversion would
 * brighten them), colour profiles are ignored, CMYK becomes {@code (1−c)(1−k)} and so on, and alpha {@code a} is composed over
 * white: {@code a·v + (1−a)·255}.
 */
final class SampleConverter {
    private static final int MAX_BITS = 16;

    private final int width;
    private final int height;
    private final Raster raster;
    private final ColorModel model;

    SampleConverter(BufferedImage image) {
        this.width = image.getWidth();
        this.height = image.getHeight();
        this.raster = image.getRaster();
        this.model = image.getColorModel();
    }

    /** @throws UnreadableException if samples of this kind are not supported; checked before decoding */
    static void check(ColorModel model, SampleModel samples) throws UnreadableException {
        int type = samples.getDataType();
        boolean whole = type == DataBuffer.TYPE_BYTE || type == DataBuffer.TYPE_USHORT || type == DataBuffer.TYPE_INT;
        if (!whole || bits(samples) > MAX_BITS) {
            throw UnreadableException.unknownFormat("expected samples that are whole numbers of at most 16 bits, found "
                    + (whole
                            ? bits(samples) + " bits"
                            : "fractions or signed numbers, which have no standard white point"));
        }
        int channels = samples.getNumBands() - (model.hasAlpha() ? 1 : 0);
        int space = model.getColorSpace().getType();
        boolean known = model instanceof IndexColorModel
                || (channels == 1 && space == ColorSpace.TYPE_GRAY)
                || (channels == 3 && space == ColorSpace.TYPE_RGB)
                || (channels == 4 && space == ColorSpace.TYPE_CMYK);
        if (!known) {
            throw UnreadableException.unknownFormat("expected an image in gray, RGB, CMYK or with a palette, found "
                    + samples.getNumBands() + " channels of another kind");
        }
    }

    int bits() {
        return bits(raster.getSampleModel());
    }

    private static int bits(SampleModel samples) {
        return Arrays.stream(samples.getSampleSize()).max().orElse(0);
    }

    Colour colour() {
        if (model instanceof IndexColorModel) {
            return Colour.PALETTE;
        }
        return switch (channels()) {
            case 1 -> model.hasAlpha() ? Colour.GRAY_ALPHA : Colour.GRAY;
            case 3 -> model.hasAlpha() ? Colour.RGB_ALPHA : Colour.RGB;
            default -> Colour.CMYK;
        };
    }

    Image image() throws UnreadableException {
        byte[] rgb = new byte[3 * width * height];
        if (model instanceof IndexColorModel palette) {
            indexed(palette, rgb);
        } else if (isPlainBytes()) {
            plain(rgb);
        } else if (isPackedRgb()) {
            packed(rgb);
        } else {
            general(rgb);
        }
        return new Image(width, height, rgb);
    }

    private int channels() {
        return raster.getNumBands() - (model.hasAlpha() ? 1 : 0);
    }

    private boolean isPlainBytes() {
        return raster.getDataBuffer() instanceof DataBufferByte
                && raster.getSampleModel() instanceof PixelInterleavedSampleModel
                && raster.getSampleModelTranslateX() == 0
                && raster.getSampleModelTranslateY() == 0
                && !model.hasAlpha()
                && channels() <= 3
                && bits() == Byte.SIZE;
    }

    /** Returns whether a pixel is {@code 0xAARRGGBB} and rows follow each other: libwebp's output. */
    private boolean isPackedRgb() {
        return raster.getDataBuffer() instanceof DataBufferInt buffer
                && buffer.getData().length == width * height
                && model instanceof DirectColorModel direct
                && direct.getRedMask() == 0xff0000
                && direct.getGreenMask() == 0xff00
                && direct.getBlueMask() == 0xff
                && !direct.isAlphaPremultiplied();
    }

    private void packed(byte[] rgb) {
        int target = 0;
        for (int pixel : ((DataBufferInt) raster.getDataBuffer()).getData()) {
            target = put(model.hasAlpha() ? pixel : pixel | 0xff << 24, rgb, target);
        }
    }

    /** Composes a pixel {@code 0xAARRGGBB} over white; returns the place of the next one. */
    private static int put(int pixel, byte[] rgb, int target) {
        int alpha = pixel >>> 24;
        for (int i = 0; i < 3; i++) {
            int value = pixel >> (16 - Byte.SIZE * i) & 0xff;
            rgb[target + i] = (byte) (alpha == 255 ? value : overWhite(value, 255, alpha, 255));
        }
        return target + 3;
    }

    /** The fast path of the common case. */
    private void plain(byte[] rgb) {
        PixelInterleavedSampleModel layout = (PixelInterleavedSampleModel) raster.getSampleModel();
        DataBufferByte buffer = (DataBufferByte) raster.getDataBuffer();
        byte[] data = buffer.getData();
        int[] offsets = layout.getBandOffsets();
        int green = channels() == 1 ? 0 : offsets[1] - offsets[0];
        int blue = channels() == 1 ? 0 : offsets[2] - offsets[0];
        int step = layout.getPixelStride();
        int target = 0;
        for (int y = 0; y < height; y++) {
            int source = buffer.getOffset() + offsets[0] + y * layout.getScanlineStride();
            for (int x = 0; x < width; x++) {
                rgb[target++] = data[source];
                rgb[target++] = data[source + green];
                rgb[target++] = data[source + blue];
                source += step;
            }
        }
    }

    private void indexed(IndexColorModel palette, byte[] rgb) throws UnreadableException {
        int[] colours = new int[palette.getMapSize()];
        palette.getRGBs(colours);
        int[] row = new int[width];
        int target = 0;
        for (int y = 0; y < height; y++) {
            raster.getSamples(raster.getMinX(), raster.getMinY() + y, width, 1, 0, row);
            for (int index : row) {
                if (index >= colours.length) {
                    throw UnreadableException.corrupt("expected a palette with a colour " + index + ", found one of "
                            + colours.length + " colours");
                }
                target = put(colours[index], rgb, target);
            }
        }
    }

    private void general(byte[] rgb) {
        int bands = raster.getNumBands();
        int channels = channels();
        long[] most = new long[bands];
        for (int band = 0; band < bands; band++) {
            most[band] = (1L << raster.getSampleModel().getSampleSize(band)) - 1;
        }
        int[] row = new int[bands * width];
        int target = 0;
        for (int y = 0; y < height; y++) {
            raster.getPixels(raster.getMinX(), raster.getMinY() + y, width, 1, row);
            for (int at = 0; at < row.length; at += bands) {
                long mostAlpha = model.hasAlpha() ? most[channels] : 1;
                long alpha = model.hasAlpha() ? row[at + channels] : 1;
                for (int channel = 0; channel < 3; channel++) {
                    int band = channels == 1 ? 0 : channel;
                    long value = row[at + band];
                    long largest = most[band];
                    if (channels == 4) {
                        value = (largest - value) * (most[3] - row[at + 3]);
                        largest *= most[3];
                    }
                    rgb[target++] = (byte)
                            (model.isAlphaPremultiplied() && model.hasAlpha()
                                    ? premultipliedOverWhite(value, largest, alpha, mostAlpha)
                                    : overWhite(value, largest, alpha, mostAlpha));
                }
            }
        }
    }

    private static long overWhite(long value, long largest, long alpha, long mostAlpha) {
        long whole = largest * mostAlpha;
        return rounded(value * alpha + largest * (mostAlpha - alpha), whole);
    }

    /** For values already multiplied by alpha; larger ones are clamped. */
    private static long premultipliedOverWhite(long value, long largest, long alpha, long mostAlpha) {
        long whole = largest * mostAlpha;
        return rounded(Math.min(whole, value * mostAlpha + largest * (mostAlpha - alpha)), whole);
    }

    private static long rounded(long part, long whole) {
        return (2 * 255 * part + whole) / (2 * whole);
    }
}
