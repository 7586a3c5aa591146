package org.gramian.image.crop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.Image;
import org.gramian.image.crop.Preprocessing.Order;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class PreprocessingTest {
    @RandomTest
    void parseReadsText(Seed seed) {
        SplittableRandom random = seed.random();
        List<Double> mean = random.doubles(3, -300, 300).boxed().toList();
        List<Double> std = random.doubles(3, 1e-9, 1e9).boxed().toList();
        for (Order order : Order.values()) {
            Preprocessing value = new Preprocessing(order, mean, std);
            assertThat(Preprocessing.parse(value.text())).isEqualTo(value);
        }
    }

    @Test
    void textOfKnownNetworks() {
        assertThat(Preprocessing.TORCHVISION.text())
                .isEqualTo("RGB mean=123.675,116.28,103.53 std=58.395,57.12,57.375");
        assertThat(Preprocessing.CAFFE.text()).isEqualTo("BGR mean=104,117,123 std=1,1,1");
        assertThat(Preprocessing.TENSORFLOW.text()).isEqualTo("RGB mean=127,127,127 std=128,128,128");
    }

    @Test
    void rejectsInvalidText() {
        for (String text : List.of(
                "",
                "RGB",
                "RGB mean=1,2,3",
                "GRB mean=1,2,3 std=1,1,1",
                "RGB mean=1,2 std=1,1,1",
                "RGB mean=1,2,3 std=1,0,1",
                "RGB mean=1,2,3 std=1,-1,1",
                "RGB mean=1,2,NaN std=1,1,1",
                "RGB mean=1,2,3 std=1,1,Infinity",
                "RGB mean=1,2,x std=1,1,1",
                "RGB mean=1,2,3 std=1,1,1 more")) {
            assertThatThrownBy(() -> Preprocessing.parse(text))
                    .as(text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("RGB mean=123.675")
                    .hasMessageContaining("'" + text + "'");
        }
    }

    @RandomTest
    void writeEqualsDefinition(Seed seed) {
        SplittableRandom random = seed.random();
        int width = random.nextInt(1, 30);
        int height = random.nextInt(1, 30);
        int size = random.nextInt(1, Math.min(width, height) + 1);
        byte[] rgb = new byte[3 * width * height];
        random.nextBytes(rgb);
        Image image = new Image(width, height, rgb);
        Crop crop = new Crop(
                width,
                height,
                random.nextInt(width - size + 1),
                random.nextInt(height - size + 1),
                size,
                random.nextBoolean());
        Order order = random.nextBoolean() ? Order.RGB : Order.BGR;
        Preprocessing preprocessing = new Preprocessing(order, List.of(1.5, 20.0, 300.0), List.of(2.0, 0.3, 60.0));
        float[] found = new float[3 * size * size];
        preprocessing.write(image, crop, MemorySegment.ofArray(found));
        for (int c = 0; c < 3; c++) {
            for (int y = 0; y < size; y++) {
                for (int x = 0; x < size; x++) {
                    int column = crop.left() + (crop.mirrored() ? size - 1 - x : x);
                    int colour = order == Order.RGB ? c : 2 - c;
                    int value = rgb[3 * ((crop.top() + y) * width + column) + colour] & 0xff;
                    assertThat(found[(c * size + y) * size + x])
                            .isEqualTo((float) ((value - preprocessing.mean().get(c))
                                    / preprocessing.std().get(c)));
                }
            }
        }
    }
}
