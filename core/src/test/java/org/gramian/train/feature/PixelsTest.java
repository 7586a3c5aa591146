package org.gramian.train.feature;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;
import org.gramian.basis.Sha256;
import org.gramian.image.Image;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.crop.Crop;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.junit.jupiter.api.Test;

class PixelsTest {
    /**
     * If this fails because decoding, resizing or cropping was changed on purpose, raise {@link FeatureExtractor#PIXELS}, so
     * that no feature of the former pixels is used again, and put the new hash here.
     */
    @Test
    void pixelsOfCropsMatchTheirVersion() throws IOException {
        StringBuilder all = new StringBuilder("version " + FeatureExtractor.PIXELS + ":");
        for (String format : new String[] {"png", "jpg"}) {
            Image image = painted(format);
            for (String plan : new String[] {"paper:50+flips", "resize:50"}) {
                for (Crop crop : CropPlan.parse(plan).training(1).of(image.width(), image.height(), "name")) {
                    float[] numbers = new float[3 * 50 * 50];
                    Preprocessing.TORCHVISION.write(crop.scale(image), crop, MemorySegment.ofArray(numbers));
                    byte[] bytes = MemorySegment.ofArray(numbers).toArray(ValueLayout.JAVA_BYTE);
                    all.append(Sha256.hex(Sha256.of(bytes)));
                }
            }
        }
        assertThat(Sha256.hex(Sha256.of(all.toString().getBytes(StandardCharsets.UTF_8))))
                .isEqualTo("4a5d77121bc9ad5ed9c8535b6b2ce9d1d99fd94edb15d5d90bc55505f88cf2a1");
    }

    private static Image painted(String format) throws IOException {
        BufferedImage image = new BufferedImage(171, 133, BufferedImage.TYPE_INT_RGB);
        SplittableRandom random = new SplittableRandom(1);
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                image.setRGB(x, y, x * 0x010203 + y * 0x030105 + random.nextInt(30));
            }
        }
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        ImageIO.write(image, format, file);
        return ((Readable) new ImageReader(ImageLimits.DEFAULT).read(file.toByteArray())).image();
    }
}
