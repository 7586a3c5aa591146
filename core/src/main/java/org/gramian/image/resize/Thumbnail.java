package org.gramian.image.resize;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Optional;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageOutputStream;
import org.gramian.image.Image;
import org.gramian.image.ReadResult;

/** JPEG thumbnails with a long side of at most {@value #SIDE} pixels. */
public final class Thumbnail {
    /** Long side: two fit side by side on a phone. */
    public static final int SIDE = 96;

    /** Block artifacts are visible below this. */
    private static final float QUALITY = 0.8f;

    private Thumbnail() {}

    /** Returns the image as a JPEG file, reduced to fit, never enlarged. */
    public static byte[] of(Image image) {
        return of(image, SIDE);
    }

    /** Returns the image as a JPEG file with a long side of at most {@code side}. */
    public static byte[] of(Image image, int side) {
        double scale = Math.min(1, (double) side / Math.max(image.width(), image.height()));
        int width = (int) Math.max(1, Math.round(image.width() * scale));
        int height = (int) Math.max(1, Math.round(image.height() * scale));
        return jpeg(scale == 1 ? image : Resize.to(image, width, height));
    }

    /** Returns the thumbnail of an image; empty if it is unreadable. */
    public static Optional<byte[]> of(ReadResult reading) {
        return reading instanceof ReadResult.Readable(var image, var _) ? Optional.of(of(image)) : Optional.empty();
    }

    public static String source(byte[] jpeg) {
        return "data:image/jpeg;base64," + Base64.getEncoder().encodeToString(jpeg);
    }

    private static byte[] jpeg(Image image) {
        ImageWriter writer = ImageIO.getImageWritersByFormatName("jpeg").next();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (MemoryCacheImageOutputStream out = new MemoryCacheImageOutputStream(bytes)) {
            ImageWriteParam parameters = writer.getDefaultWriteParam();
            parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
            parameters.setCompressionQuality(QUALITY);
            writer.setOutput(out);
            writer.write(null, new IIOImage(image.toBufferedImage(), null, null), parameters);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // writes to memory
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }
}
