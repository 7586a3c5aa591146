package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.image.Image;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.junit.jupiter.api.Test;

class ImageSheetTest {
    private static final ImageInfo ORIGIN = new ImageInfo(ImageFormat.PNG, ImageInfo.Colour.RGB, 8, 64, 1, 1);

    private final List<Path> decoded = new ArrayList<>();

    /** Distinct images. */
    private ImageSheet.Thumbnails images(int count) {
        List<Sample> samples = IntStream.range(0, count)
                .mapToObj(i -> new Sample("p" + i, 0, Path.of("p" + i)))
                .toList();
        return ImageSheet.Thumbnails.of(new Dataset(Path.of("."), List.of("a"), samples), file -> {
            decoded.add(file);
            int i = decoded.size();
            byte[] rgb = new byte[3 * 64];
            for (int k = 0; k < rgb.length; k++) {
                rgb[k] = (byte) (((i >> (k / 3 % 16)) & 1) * 255);
            }
            return new ReadResult.Readable(new Image(64, 1, rgb), ORIGIN);
        });
    }

    @Test
    void decodesImageOnce() {
        ImageSheet sheet = new ImageSheet();
        ImageSheet.Thumbnails source = images(2);
        assertThat(sheet.place("p0", source)).hasValue(0);
        assertThat(sheet.place("p1", source)).hasValue(1);
        assertThat(sheet.place("p0", source)).hasValue(0);
        assertThat(sheet.place("absent", source)).isEmpty();
        assertThat(decoded).hasSize(2);
        assertThat(sheet.overflowed()).isFalse();
    }

    @Test
    void fullPageDecodesNothing() {
        ImageSheet sheet = new ImageSheet();
        ImageSheet.Thumbnails source = images(ImageSheet.MOST + 5);
        for (int i = 0; i < ImageSheet.MOST + 5; i++) {
            assertThat(sheet.place("p" + i, source).isPresent()).isEqualTo(i < ImageSheet.MOST);
        }
        assertThat(decoded).hasSize(ImageSheet.MOST);
        assertThat(sheet.overflowed()).isTrue();
        assertThat(sheet.images()).hasSize(ImageSheet.MOST);
    }
}
