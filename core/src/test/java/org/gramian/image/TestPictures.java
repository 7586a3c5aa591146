package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.awt.image.Raster;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.random.RandomGenerator;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageOutputStream;
import org.gramian.image.Reading.Readable;
import org.gramian.image.Reading.Unreadable;

/** Pictures whose pixels are known, and their files in every format that Java can write. */
final class TestPictures {
    private TestPictures() {}

    /** No two rows or columns are alike, and no turn or mirror image of it is the same. */
    static Picture lively(int width, int height) {
        return make(width, height, (x, y) -> rgb(x * 9 + y, y * 15, x * y + (x < width / 3 ? 100 : 0)));
    }

    /** Slow changes, which lossy compression keeps. */
    static Picture smooth(int width, int height) {
        return make(width, height, (x, y) -> rgb(x * 4, y * 5, 255 - x * 2 - y));
    }

    static Picture random(RandomGenerator random, int width, int height) {
        return make(width, height, (_, _) -> random.nextInt());
    }

    /** A colour for each pixel, as the lower three bytes of a number. */
    interface Colours {
        int at(int x, int y);
    }

    static Picture make(int width, int height, Colours colours) {
        byte[] rgb = new byte[3 * width * height];
        for (int y = 0, target = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int colour = colours.at(x, y);
                rgb[target++] = (byte) (colour >> 16);
                rgb[target++] = (byte) (colour >> 8);
                rgb[target++] = (byte) colour;
            }
        }
        return new Picture(width, height, rgb);
    }

    static int rgb(int red, int green, int blue) {
        return ((red & 0xff) << 16) | ((green & 0xff) << 8) | (blue & 0xff);
    }

    /** One channel of a pixel, 0 to 255. */
    static int value(Picture picture, int x, int y, int channel) {
        return picture.rgb()[3 * (y * picture.width() + x) + channel] & 0xff;
    }

    /** The largest difference of any channel of any pixel. */
    static int distance(Picture a, Picture b) {
        assertThat(a).hasToString(b.toString());
        int largest = 0;
        for (int i = 0; i < a.rgb().length; i++) {
            largest = Math.max(largest, Math.abs((a.rgb()[i] & 0xff) - (b.rgb()[i] & 0xff)));
        }
        return largest;
    }

    /** An image of one of {@link BufferedImage}'s types. */
    static BufferedImage image(Picture picture, int type) {
        BufferedImage image = new BufferedImage(picture.width(), picture.height(), type);
        for (int y = 0; y < picture.height(); y++) {
            for (int x = 0; x < picture.width(); x++) {
                int colour = rgb(value(picture, x, y, 0), value(picture, x, y, 1), value(picture, x, y, 2));
                image.setRGB(x, y, (0xff << 24) | colour);
            }
        }
        return image;
    }

    static byte[] written(BufferedImage image, String format) {
        return written(new IIOImage(image, null, null), format, "", false);
    }

    static byte[] jpeg(BufferedImage image, boolean progressive) {
        return written(new IIOImage(image, null, null), "jpeg", "JPEG", progressive);
    }

    /** A JPEG of components as they are, of which the JDK's writer knows nothing but their number. */
    static byte[] jpeg(Raster raster) {
        return written(new IIOImage(raster, null, null), "jpeg", "JPEG", false);
    }

    static byte[] tiff(BufferedImage image, String compression) {
        return written(new IIOImage(image, null, null), "tiff", compression, false);
    }

    private static byte[] written(IIOImage image, String format, String compression, boolean progressive) {
        ImageWriter writer = writer(format);
        ImageWriteParam param = writer.getDefaultWriteParam();
        if (!compression.isEmpty()) {
            param.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
            param.setCompressionType(compression);
        }
        if (compression.equals("JPEG")) {
            param.setCompressionQuality(0.95f);
        }
        if (progressive) {
            param.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (MemoryCacheImageOutputStream output = new MemoryCacheImageOutputStream(bytes)) {
            writer.setOutput(output);
            writer.write(null, image, param);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }

    /** The JDK's own, so that reading is checked against other code than its counterpart. */
    private static ImageWriter writer(String format) {
        var writers = ImageIO.getImageWritersByFormatName(format);
        while (writers.hasNext()) {
            ImageWriter writer = writers.next();
            if (writer.getClass().getName().startsWith("com.sun.")) {
                return writer;
            }
        }
        throw new AssertionError("the JDK has no writer of " + format);
    }

    /** A file of the test resources. */
    static byte[] resource(String name) {
        try (InputStream in = TestPictures.class.getResourceAsStream("/pictures/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Readable read(byte[] content) {
        Reading reading = new PictureReader(PictureLimits.DEFAULT).read(content);
        assertThat(reading).isInstanceOf(Readable.class);
        return (Readable) reading;
    }

    static Unreadable refused(byte[] content) {
        Reading reading = new PictureReader(PictureLimits.DEFAULT).read(content);
        assertThat(reading).isInstanceOf(Unreadable.class);
        return (Unreadable) reading;
    }
}
