package org.gramian.image;

import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.ImageWriter;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/** Small copies of images as JPEG, for pages and galleries; the longer side has {@value #SIDE} pixels at most. */
public final class Thumbnail {
    /** The longer side: two beside each other still fit on a telephone. */
    public static final int SIDE = 96;

    /** Below this the blocks of the compression begin to show. */
    private static final float QUALITY = 0.8f;

    private Thumbnail() {}

    /** The content of a JPEG file: the image reduced to fit, never enlarged. */
    public static byte[] of(Image image) {
        double scale = Math.min(1, (double) SIDE / Math.max(image.width(), image.height()));
        int width = (int) Math.max(1, Math.round(image.width() * scale));
        int height = (int) Math.max(1, Math.round(image.height() * scale));
        return jpeg(scale == 1 ? image : Resize.to(image, width, height));
    }

    /** A JPEG as the text of an {@code img} element's source, which then needs no file. */
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
            writer.write(null, new IIOImage(buffered(image), null, null), parameters);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // it goes to memory
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }

    private static BufferedImage buffered(Image image) {
        BufferedImage buffered = new BufferedImage(image.width(), image.height(), BufferedImage.TYPE_3BYTE_BGR);
        byte[] bgr = ((DataBufferByte) buffered.getRaster().getDataBuffer()).getData();
        byte[] rgb = image.rgb();
        for (int i = 0; i < rgb.length; i += 3) {
            bgr[i] = rgb[i + 2];
            bgr[i + 1] = rgb[i + 1];
            bgr[i + 2] = rgb[i];
        }
        return buffered;
    }
}
