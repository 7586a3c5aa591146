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
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;

/** Images whose pixels are known, and their files in every format that Java can write. */
final class TestImages {
    private TestImages() {}

    /** No two rows or columns are alike, and no turn or mirror image of it is the same. */
    static Image lively(int width, int height) {
        return make(width, height, (x, y) -> rgb(x * 9 + y, y * 15, x * y + (x < width / 3 ? 100 : 0)));
    }

    /** Slow changes, which lossy compression keeps. */
    static Image smooth(int width, int height) {
        return make(width, height, (x, y) -> rgb(x * 4, y * 5, 255 - x * 2 - y));
    }

    static Image random(RandomGenerator random, int width, int height) {
        return make(width, height, (_, _) -> random.nextInt());
    }

    /** A colour for each pixel, as the lower three bytes of a number. */
    interface Colours {
        int at(int x, int y);
    }

    static Image make(int width, int height, Colours colours) {
        byte[] rgb = new byte[3 * width * height];
        for (int y = 0, target = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int colour = colours.at(x, y);
                rgb[target++] = (byte) (colour >> 16);
                rgb[target++] = (byte) (colour >> 8);
                rgb[target++] = (byte) colour;
            }
        }
        return new Image(width, height, rgb);
    }

    static int rgb(int red, int green, int blue) {
        return ((red & 0xff) << 16) | ((green & 0xff) << 8) | (blue & 0xff);
    }

    /** One channel of a pixel, 0 to 255. */
    static int value(Image image, int x, int y, int channel) {
        return image.rgb()[3 * (y * image.width() + x) + channel] & 0xff;
    }

    /** The largest difference of any channel of any pixel. */
    static int distance(Image a, Image b) {
        assertThat(a).hasToString(b.toString());
        int largest = 0;
        for (int i = 0; i < a.rgb().length; i++) {
            largest = Math.max(largest, Math.abs((a.rgb()[i] & 0xff) - (b.rgb()[i] & 0xff)));
        }
        return largest;
    }

    /** An image of one of {@link BufferedImage}'s types. */
    static BufferedImage image(Image image, int type) {
        BufferedImage buffered = new BufferedImage(image.width(), image.height(), type);
        for (int y = 0; y < image.height(); y++) {
            for (int x = 0; x < image.width(); x++) {
                int colour = rgb(value(image, x, y, 0), value(image, x, y, 1), value(image, x, y, 2));
                buffered.setRGB(x, y, (0xff << 24) | colour);
            }
        }
        return buffered;
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
        try (InputStream in = TestImages.class.getResourceAsStream("/images/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Readable read(byte[] content) {
        ReadResult reading = new ImageReader(ImageLimits.DEFAULT).read(content);
        assertThat(reading).isInstanceOf(Readable.class);
        return (Readable) reading;
    }

    static Unreadable refused(byte[] content) {
        ReadResult reading = new ImageReader(ImageLimits.DEFAULT).read(content);
        assertThat(reading).isInstanceOf(Unreadable.class);
        return (Unreadable) reading;
    }
}
