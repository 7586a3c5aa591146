package org.gramian.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import javax.imageio.ImageIO;
import org.gramian.explain.Explanation.ChannelPair;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.explain.Explanation.Parts;
import org.gramian.explain.gradient.CroppedImage;
import org.gramian.explain.gradient.CroppedImage.Grid;
import org.gramian.explain.gradient.Models;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.junit.jupiter.api.Test;

class HeatImageTest {
    private static HeatMap ramp(int width, int height) {
        float[] values = new float[width * height];
        BitSet covered = new BitSet();
        for (int i = 0; i < values.length; i++) {
            values[i] = i % width - width / 2f;
            covered.set(i, i / width > 0);
        }
        return new HeatMap(width, height, values, covered);
    }

    @Test
    void opacityAndLightnessRiseWithStrength() {
        BufferedImage overlay = HeatImage.overlay(ramp(40, 10));
        int before = -1;
        for (int x = 0; x < 40; x++) {
            int alpha = overlay.getRGB(x, 5) >>> 24;
            assertThat(alpha).isGreaterThanOrEqualTo(before).isLessThan(255);
            before = alpha;
        }
        assertThat(overlay.getRGB(10, 5) >>> 24)
                .as("what speaks against the class")
                .isZero();
        assertThat(overlay.getRGB(39, 5) >>> 24).isGreaterThan(100);
        assertThat(overlay.getRGB(39, 0)).as("not covered").isEqualTo(0x80808080);
        double light = -1;
        for (int step = 0; step <= 20; step++) {
            int rgb = HeatImage.plasma(step / 20.0);
            double now = 0.2126 * Math.pow(((rgb >> 16) & 0xff) / 255.0, 2.2)
                    + 0.7152 * Math.pow(((rgb >> 8) & 0xff) / 255.0, 2.2)
                    + 0.0722 * Math.pow((rgb & 0xff) / 255.0, 2.2);
            assertThat(now).isGreaterThan(light);
            light = now;
        }
    }

    @Test
    void drawsSheetsWithAndWithoutFonts() throws IOException {
        Image image = Models.halves(80, 50);
        ChannelPair pair = new ChannelPair(1, 2, -0.5, ramp(80, 50), List.of());
        Explanation why =
                new Explanation("wood", 1.5, 0.8, true, ramp(80, 50), Parts.PAIRS, List.of(pair, pair, pair, pair));
        BufferedImage plain = HeatImage.sheet(image, why, false);
        BufferedImage found = HeatImage.sheet(image, why);
        assertThat(found.getWidth()).isEqualTo(plain.getWidth());
        assertThat(ink(found) > ink(plain)).isEqualTo(HeatImage.hasFonts());
        BufferedImage read = ImageIO.read(new ByteArrayInputStream(HeatImage.png(found)));
        assertThat(read.getHeight()).isEqualTo(plain.getHeight());
    }

    @Test
    void panelsShareOneScaleOfTwoColours() {
        List<ChannelPair> pairs = List.of(
                new ChannelPair(1, 2, 9, flat(1), List.of()),
                new ChannelPair(1, 3, -9, flat(-1), List.of()),
                new ChannelPair(2, 3, 0.1, flat(0.01f), List.of()));
        Explanation why = new Explanation("wood", 1.5, 0.8, true, flat(1), Parts.PAIRS, pairs);
        BufferedImage sheet = HeatImage.sheet(Models.plain(60, 60), why, false);
        // From red over grey to blue, in the middle of each panel of the last row.
        double[] warmth = new double[3];
        for (int i = 0; i < 3; i++) {
            int rgb = sheet.getRGB(sheet.getWidth() * (2 * i + 1) / 6, sheet.getHeight() - 150);
            warmth[i] = ((rgb >> 16) & 0xff) - (rgb & 0xff);
        }
        assertThat(warmth[0]).isGreaterThan(100);
        assertThat(warmth[1]).isLessThan(-100);
        assertThat(warmth[2]).isBetween(-1.0, 5.0);
    }

    private static HeatMap flat(float value) {
        float[] values = new float[100];
        Arrays.fill(values, value);
        BitSet covered = new BitSet();
        covered.set(0, 100);
        return new HeatMap(10, 10, values, covered);
    }

    /** Pixels in the line of the heading that are not white. */
    private static int ink(BufferedImage sheet) {
        int dark = 0;
        for (int y = 0; y < 34; y++) {
            for (int x = 0; x < sheet.getWidth(); x++) {
                dark += (sheet.getRGB(x, y) & 0xffffff) == 0xffffff ? 0 : 1;
            }
        }
        return dark;
    }

    @Test
    void mapsOfMirroredCropsAreTurnedBack() {
        Grid left = new Grid(2, 4, new float[] {1, 1, 0, 0, 1, 1, 0, 0});
        Grid right = new Grid(2, 4, new float[] {0, 0, 1, 1, 0, 0, 1, 1});
        HeatMap straight =
                cropped(16, 16, List.of(new Crop(16, 16, 0, 0, 16, false))).sum(List.of(left));
        HeatMap mirrored =
                cropped(16, 16, List.of(new Crop(16, 16, 0, 0, 16, true))).sum(List.of(right));
        for (int x = 0; x < 16; x++) {
            assertThat(mirrored.value(x, 3)).isCloseTo(straight.value(x, 3), within(1e-6f));
        }
        assertThat(straight.value(0, 0)).isGreaterThan(0.9f * 8 / 256);
        assertThat(straight.value(15, 0)).isLessThan(0.1f * 8 / 256);
    }

    private static final List<Crop> OVERLAPPING =
            List.of(new Crop(24, 16, 0, 0, 16, false), new Crop(24, 16, 8, 0, 16, false));

    @Test
    void mapsOfOverlappingCropsAreSummed() {
        Grid four = new Grid(2, 2, new float[] {1, 1, 1, 1});
        Grid nine = new Grid(3, 3, new float[] {1, 1, 1, 1, 1, 1, 1, 1, 1});
        HeatMap heat = cropped(48, 32, OVERLAPPING).sum(List.of(four, nine));
        assertThat(heat.value(2, 8)).isCloseTo(4f / 1024, within(1e-7f));
        assertThat(heat.value(24, 8)).isCloseTo(13f / 1024, within(1e-7f));
        assertThat(heat.value(44, 8)).isCloseTo(9f / 1024, within(1e-7f));
        assertThat(heat.coverage()).isEqualTo(1);
    }

    private static CroppedImage cropped(int width, int height, List<Crop> crops) {
        return new CroppedImage(
                Models.plain(16, 16), crops, Models.card("resize:64").preprocessing(), width, height);
    }

    @Test
    void heatMapsHaveABoundedSize() {
        assertHeatSize(4_000, 100, 1024, 26);
        assertHeatSize(100, 4_000, 26, 1024);
        assertHeatSize(700, 700, 256, 256);
        assertHeatSize(300, 200, 300, 200);
        assertHeatSize(1024, 512, 512, 256);
        assertHeatSize(20_000, 1, 1024, 1);
    }

    private static void assertHeatSize(int width, int height, int heatWidth, int heatHeight) {
        CroppedImage view = CroppedImage.of(Models.plain(width, height), Models.card("resize:64"));
        assertThat(List.of(view.width(), view.height())).containsExactly(heatWidth, heatHeight);
    }

    @Test
    void topIsTheHottestShareOfCoveredPixels() {
        HeatMap heat = ramp(40, 11);
        BitSet top = heat.top(0.25);
        assertThat(top.cardinality()).isEqualTo(100);
        assertThat(top.stream()).allMatch(place -> place / 40 > 0 && place % 40 >= 30);
    }
}
