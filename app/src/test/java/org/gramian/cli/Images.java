package org.gramian.cli;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import javax.imageio.ImageIO;

/** Bytes of small made-up images, for what is sent and not read from a folder. */
public final class Images {
    private Images() {}

    /** A PNG of coloured stripes; the seed turns and colours them. */
    public static byte[] png(int width, int height, int seed) throws IOException {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                image.setRGB(x, y, ((x + seed * y) / 7 % 2 == 0 ? 0x406080 : 0xd0c090) ^ seed * 0x050301);
            }
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ImageIO.write(image, "png", bytes);
        return bytes.toByteArray();
    }
}
