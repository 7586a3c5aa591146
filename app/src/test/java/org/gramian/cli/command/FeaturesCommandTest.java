package org.gramian.cli.command;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.cli.ImageFolder;
import org.gramian.cli.Run;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FeaturesCommandTest {
    @TempDir
    private Path root = Path.of("");

    private Path photos = Path.of("");
    private Path out = Path.of("");

    @BeforeEach
    void paint() throws IOException {
        photos = root.resolve("photos");
        out = root.resolve("out.safetensors");
        ImageFolder images = new ImageFolder(photos);
        for (String name : List.of("stone/a", "stone/b", "wood/a", "wood/b", "wood/c")) {
            images.addSmall(name + ".png", name.hashCode());
        }
    }

    private Run features(Object... more) {
        List<Object> arguments =
                new ArrayList<>(List.of("features", "--backbone", "filters", "--device", "cpu", photos, out));
        arguments.addAll(List.of(more));
        if (!arguments.contains("--crops")) {
            arguments.addAll(List.of("--crops", "center:32"));
        }
        return Run.of(arguments.toArray());
    }

    private Run cached(Object... more) {
        List<Object> arguments = new ArrayList<>(List.of("--cache-dir", root.resolve("cache")));
        arguments.addAll(List.of(more));
        return features(arguments.toArray());
    }

    @Test
    void writesFeaturesLabelsAndNames() throws IOException {
        Run run = cached().done();
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
    void writesIdenticalBytesWithAndWithoutCache() throws IOException {
        assertThat(features("--no-cache").code()).isZero();
        byte[] without = Files.readAllBytes(out);
        for (String state : List.of("cold", "warm")) {
            cached().done();
            assertThat(Files.readAllBytes(out)).as(state).isEqualTo(without);
        }
    }

    @Test
    void severalCropsAreSeveralRowsOfOneImage() throws IOException {
        features("--no-cache", "--crops", "paper:32", "--dtype", "f16", "--batch", 7)
                .done();
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            TensorFile file = Safetensors.read(out, arena);
            assertThat(file.get("features").shape().at(0)).isEqualTo(25);
            assertThat(file.get("features").type().name()).isEqualTo("F16");
            long[] images = file.get("image").toTensor().toLongs();
            for (int i = 0; i < images.length; i++) {
                assertThat(images[i]).isEqualTo(i / 5);
            }
            assertThat(file.metadata().get("crops")).contains("center", "bottom-right");
        }
    }

    @Test
    void unreadableImagesAreListedAndSkipped() throws IOException {
        assertThat(features("--no-cache").code()).isZero();
        byte[] whole = read("features");
        Files.writeString(photos.resolve("stone/b.png"), "this is no picture");
        cached().failed(ExitCode.DATA, "stone/b.png");
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
    void fileLargerThanTheDiskIsRefused() {
        FeatureOutput.requireSpace(out, 5_000);
        assertThatThrownBy(() -> FeatureOutput.requireSpace(out, 1L << 60))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("OUT", "1152921.5 TB", root));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        2 | fliters            | --backbone fliters PHOTOS OUT
        2 | banc               | --backbone filters --layer banc PHOTOS OUT
        2 | 'center'           | --backbone filters --crops centre PHOTOS OUT
        2 | --no-cache         | --backbone filters --cache-dir ROOT --no-cache PHOTOS OUT
        2 | .safetensors       | --backbone filters PHOTOS ROOT/o.npy
        2 | --weights          | --backbone filters --weights x PHOTOS OUT
        2 | folders            | --backbone filters --layout folder PHOTOS OUT
        2 | --backbone         | PHOTOS OUT
        2 | batch              | --backbone filters --batch 0 PHOTOS OUT
        3 | absent             | --backbone filters ROOT/absent OUT
        4 | absent.safetensors | --backbone googlenet --weights absent.safetensors PHOTOS OUT
        """, quoteCharacter = '"')
    void rejectsInvalidArguments(int code, String fact, String arguments) {
        String typed = arguments
                .replace("PHOTOS", photos.toString())
                .replace("OUT", out.toString())
                .replace("ROOT", root.toString());
        Run run = Run.of(Stream.concat(Stream.of("features"), Stream.of(typed.split(" ", -1)))
                .toArray());
        assertThat(run.code()).as(run.err()).isEqualTo(code);
        assertThat(run.err()).contains(fact).doesNotContain("\tat ");
        assertThat(out).doesNotExist();
    }
}
