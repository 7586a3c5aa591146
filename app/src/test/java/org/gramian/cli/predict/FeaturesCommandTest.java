package org.gramian.cli.predict;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.gramian.cli.Listings;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FeaturesCommandTest {
    @TempDir
    private Path root = Path.of("");

    private Path photos = Path.of("");
    private Path out = Path.of("");

    @BeforeEach
    void paint() throws IOException {
        photos = root.resolve("photos");
        out = root.resolve("out.safetensors");
        for (String name : List.of("stone/a", "stone/b", "wood/a", "wood/b", "wood/c")) {
            Path file = photos.resolve(name + ".png");
            Files.createDirectories(file.getParent());
            BufferedImage image = new BufferedImage(50, 40, BufferedImage.TYPE_INT_RGB);
            SplittableRandom random = new SplittableRandom(name.hashCode());
            for (int i = 0; i < 50 * 40; i++) {
                image.setRGB(i % 50, i / 50, random.nextInt());
            }
            ImageIO.write(image, "png", file.toFile());
        }
    }

    private Run features(Object... more) {
        List<Object> arguments = new ArrayList<>(
                List.of("features", "--backbone", "filters", "--size", 32, "--device", "cpu", photos, out));
        arguments.addAll(List.of(more));
        return Run.of(arguments.toArray());
    }

    private Run cached(Object... more) {
        List<Object> arguments = new ArrayList<>(List.of("--cache-dir", root.resolve("cache")));
        arguments.addAll(List.of(more));
        return features(arguments.toArray());
    }

    @Test
    void everyImageHasAFeatureALabelAndAName() throws IOException {
        Run run = cached();
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.err()).has(facts("5", "F32[", root.resolve("cache")));
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            TensorFile file = Safetensors.read(out, arena);
            Shape shape = file.get("features").shape();
            assertThat(shape.rank()).isEqualTo(4);
            assertThat(shape.at(0)).isEqualTo(5);
            assertThat(file.get("labels").toTensor().toLongs()).containsExactly(0, 0, 1, 1, 1);
            assertThat(file.get("image").toTensor().toLongs()).containsExactly(0, 1, 2, 3, 4);
            assertThat(file.metadata())
                    .containsEntry(
                            "names", "[\"stone/a.png\",\"stone/b.png\",\"wood/a.png\",\"wood/b.png\",\"wood/c.png\"]")
                    .containsEntry("classes", "[\"stone\",\"wood\"]")
                    .containsEntry("crops", "[\"center\"]")
                    .containsEntry("unreadable", "{}")
                    .containsEntry("backbone", "filters")
                    .containsEntry("layer", "bank")
                    .containsKeys("weights", "preprocessing", "recipe", "gramian");
        }
        try (Stream<Path> left = Files.list(root)) {
            assertThat(left).containsExactlyInAnyOrder(photos, out, root.resolve("cache"));
        }
    }

    @Test
    void theFileIsTheSameByteForByteWithAColdAWarmAndNoCache() throws IOException {
        assertThat(features("--no-cache").code()).isZero();
        byte[] without = Files.readAllBytes(out);
        assertThat(cached().err()).has(facts("5", "5"));
        assertThat(Files.readAllBytes(out)).isEqualTo(without);
        assertThat(cached().err()).has(facts("0"));
        assertThat(Files.readAllBytes(out)).isEqualTo(without);
    }

    @Test
    void severalCropsAreSeveralRowsOfOneImage() throws IOException {
        Run run = features("--no-cache", "--crops", "paper", "--training", "--seed", 3, "--dtype", "f16", "--batch", 7);
        assertThat(run.code()).as(run.err()).isZero();
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            TensorFile file = Safetensors.read(out, arena);
            assertThat(file.get("features").shape().at(0)).isEqualTo(75);
            assertThat(file.get("features").type().name()).isEqualTo("F16");
            long[] images = file.get("image").toTensor().toLongs();
            for (int i = 0; i < images.length; i++) {
                assertThat(images[i]).isEqualTo(i / 15);
            }
            assertThat(file.metadata().get("crops")).contains("center", "bottom-right", "random9");
        }
    }

    @Test
    void imagesThatCannotBeReadAreListedAndTheOthersAreWritten() throws IOException {
        assertThat(features("--no-cache").code()).isZero();
        byte[] whole = read("features");
        Files.writeString(photos.resolve("stone/b.png"), "this is no picture");
        Run run = cached();
        assertThat(run.code()).isEqualTo(ExitCode.DATA);
        assertThat(run.err()).has(facts("stone/b.png"));
        byte[] rest = read("features");
        assertThat(rest).hasSize(whole.length / 5 * 4).startsWith(Arrays.copyOf(whole, whole.length / 5));
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            TensorFile file = Safetensors.read(out, arena);
            assertThat(file.get("labels").toTensor().toLongs()).containsExactly(0, 1, 1, 1);
            assertThat(file.metadata().get("names")).doesNotContain("stone/b.png");
            assertThat(file.metadata().get("unreadable")).startsWith("{\"stone/b.png\":\"");
        }
    }

    private byte[] read(String name) throws IOException {
        try (Arena arena = Arena.ofShared()) {
            return Safetensors.read(out, arena).get(name).data().toArray(JAVA_BYTE);
        }
    }

    @Test
    void whereNoImageCanBeReadNothingIsWritten() throws IOException {
        try (Stream<Path> files = Files.walk(photos)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.writeString(file, "no");
            }
        }
        Run run = cached();
        assertThat(run.code()).isEqualTo(ExitCode.DATA);
        assertThat(run.err()).contains("stone/a.png").doesNotContain("Exception");
        assertThat(out).doesNotExist();
    }

    @Test
    void whatTheCacheTakesOnTheSameDiskCountsToo() throws IOException {
        assertThat(FeatureOutput.onSameDisk(out, photos)).isTrue();
        FeatureOutput.requireSpace(out, 5_000_000, 3_000_000, 13_000_000);
        assertThatThrownBy(() -> FeatureOutput.requireSpace(out, 5_000_000, 3_000_000, 12_999_999))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("OUT", "5.0 MB", "3.0 MB"))
                .hasMessageContaining("--no-cache");
        assertThatThrownBy(() -> FeatureOutput.requireSpace(out, 5_000_000, 0, 9_999_999))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("10.0 MB"))
                .satisfies(refused -> assertThat(refused.getMessage()).doesNotContain("cache"));
    }

    @Test
    void theHelpListsLayoutsAndCrops() {
        String help = Run.of("features", "--help").out();
        for (String layout : List.of("folders", "csv[:<root>]", "kth-tips-2b", "cub-200-2011")) {
            assertThat(help).contains(layout);
            assertThat(Run.of("audit", "--help").out()).contains(layout);
        }
        assertThat(help).contains("NAME[:SIZE][+flips]").containsPattern("paper +.*\\b15\\b.*\\b5\\b");
        assertThat(Listings.crops() + Listings.layouts())
                .as("lines that need no wrapping")
                .doesNotContainPattern(".{111}");
    }

    @Test
    void mistakesAreSaidInASentenceBeforeAnyWork() {
        assertRefused(facts("fliters"), "features", "--backbone", "fliters", photos, out);
        assertRefused(facts("banc"), "features", "--backbone", "filters", "--layer", "banc", photos, out);
        assertRefused(
                facts("'centre'", "'center'"), "features", "--backbone", "filters", "--crops", "centre", photos, out);
        assertRefused(
                facts("--size", "ten:32"),
                "features",
                "--backbone",
                "filters",
                "--crops",
                "ten:32",
                "--size",
                9,
                photos,
                out);
        assertRefused(
                facts("--cache-dir", "--no-cache"),
                "features",
                "--backbone",
                "filters",
                "--cache-dir",
                root,
                "--no-cache",
                photos,
                out);
        assertRefused(facts(".safetensors"), "features", "--backbone", "filters", photos, root.resolve("o.npy"));
        assertRefused(
                facts("--weights", "filters"), "features", "--backbone", "filters", "--weights", "x", photos, out);
        assertRefused(
                facts("'folder'", "folders"), "features", "--backbone", "filters", "--layout", "folder", photos, out);
        assertRefused(
                ExitCode.DATA,
                facts(root.resolve("absent")),
                "features",
                "--backbone",
                "filters",
                root.resolve("absent"),
                out);
        assertRefused(facts("--backbone"), "features", photos, out);
        assertRefused(
                ExitCode.MODEL,
                facts("absent.safetensors"),
                "features",
                "--backbone",
                "googlenet",
                "--weights",
                "absent.safetensors",
                photos,
                out);
        assertRefused(facts("batch", "1", "0"), "features", "--backbone", "filters", "--batch", 0, photos, out);
    }

    private void assertRefused(Facts words, Object... arguments) {
        assertRefused(ExitCode.USAGE, words, arguments);
    }

    private void assertRefused(int code, Facts words, Object... arguments) {
        Run run = Run.of(arguments);
        assertThat(run.code()).as(run.err()).isEqualTo(code);
        assertThat(run.err()).has(words).doesNotContain("\tat ");
        assertThat(out).doesNotExist();
    }
}
