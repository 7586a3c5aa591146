package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.image.Origin;
import org.gramian.image.Picture;
import org.gramian.image.PictureFormat;
import org.gramian.image.Reading;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.report.run.material.Thumbnails;
import org.junit.jupiter.api.Test;

class PictureSheetTest {
    private static final Origin ORIGIN = new Origin(PictureFormat.PNG, Origin.Colour.RGB, 8, 64, 1, 1);

    private final List<Path> decoded = new ArrayList<>();

    /** So many pictures, none like another. */
    private Thumbnails pictures(int count) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            samples.add(new Sample("p" + i, 0, Path.of("p" + i)));
        }
        return Thumbnails.of(new Dataset(Path.of("."), List.of("a"), samples), file -> {
            decoded.add(file);
            int i = decoded.size();
            byte[] rgb = new byte[3 * 64];
            for (int k = 0; k < rgb.length; k++) {
                rgb[k] = (byte) (((i >> (k / 3 % 16)) & 1) * 255);
            }
            return new Reading.Readable(new Picture(64, 1, rgb), ORIGIN);
        });
    }

    @Test
    void aPictureIsDecodedOnceHoweverOftenItIsShown() {
        PictureSheet sheet = new PictureSheet();
        Thumbnails source = pictures(2);
        assertThat(sheet.place("p0", source)).hasValue(0);
        assertThat(sheet.place("p1", source)).hasValue(1);
        assertThat(sheet.place("p0", source)).hasValue(0);
        assertThat(sheet.place("absent", source)).isEmpty();
        assertThat(decoded).hasSize(2);
        assertThat(sheet.overflowed()).isFalse();
    }

    @Test
    void nothingIsDecodedForAFullPage() {
        PictureSheet sheet = new PictureSheet();
        Thumbnails source = pictures(PictureSheet.MOST + 5);
        for (int i = 0; i < PictureSheet.MOST + 5; i++) {
            assertThat(sheet.place("p" + i, source).isPresent()).isEqualTo(i < PictureSheet.MOST);
        }
        assertThat(decoded).hasSize(PictureSheet.MOST);
        assertThat(sheet.overflowed()).isTrue();
        assertThat(sheet.images()).hasSize(PictureSheet.MOST);
    }

    @Test
    void aFullPageStillShowsThePicturesThatAnotherRunKeptToo() {
        PictureSheet sheet = new PictureSheet();
        for (int i = 0; i < PictureSheet.MOST; i++) {
            byte[] jpeg = {(byte) i, (byte) (i >> 8)};
            sheet.place("p" + i, _ -> Optional.of(jpeg));
        }
        assertThat(sheet.place("p7", _ -> Optional.of(new byte[] {7, 0}))).hasValue(7);
        assertThat(sheet.overflowed()).isFalse();
        assertThat(sheet.place("new", _ -> Optional.of(new byte[] {0, 99}))).isEmpty();
        assertThat(sheet.overflowed()).isTrue();
    }
}
