package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import org.gramian.backbone.weights.format.Tensors32;
import org.gramian.basis.Sha256;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BundledWeightsTest {
    private static final WeightName NAME = WeightName.parse(BundledWeights.NAME);
    private static final Path FILE = Path.of("gramian-s.safetensors");
    private static final long MAX_BYTES = 6_000_000;

    private static final SequencedMap<String, StoredTensor> VALUES = Tensors32.random(
            new Random(3), ExpectedParameters.of(BundledWeights.NAME).parameters());

    @TempDir
    Path folder;

    private WeightStore store() {
        return new WeightStore(folder.resolve("store"));
    }

    private byte[] content() throws IOException {
        Path file = folder.resolve("weights.safetensors");
        Safetensors.write(file, VALUES, Map.of("input", "RGB mean=1,2,3 std=4,5,6"));
        return Files.readAllBytes(file);
    }

    @Test
    void weightsAreReadFromMemory() throws IOException {
        byte[] content = content();
        try (Arena arena = Arena.ofConfined()) {
            var read = BundledWeights.read(FILE, content, Sha256.hex(Sha256.of(content)), arena);
            assertThat(read.tensors().keySet()).containsExactlyInAnyOrderElementsOf(VALUES.keySet());
            Tensors32.assertSame(
                    WeightConversion.of(read, ExpectedParameters.of(BundledWeights.NAME), false)
                            .tensors(),
                    VALUES);
        }
    }

    @Test
    void changedWeightsAreRefused() throws IOException {
        byte[] content = content();
        String sha256 = Sha256.hex(Sha256.of(content));
        content[content.length - 1] ^= 1;
        try (Arena arena = Arena.ofConfined()) {
            assertRejected(
                    TensorFileException.class,
                    () -> BundledWeights.read(FILE, content, sha256, arena),
                    "gramian-s.safetensors",
                    "SHA-256",
                    sha256);
        }
    }

    @Test
    void bundledWeightsAreOpenedByTheirName() throws IOException {
        assumeTrue(BundledWeights.has(BundledWeights.NAME), "this build has no bundled weights");
        assertThat(BundledWeights.size(BundledWeights.NAME)).isLessThan(MAX_BYTES);
        assertThat(store().names()).isEmpty();
        assertThat(store().available()).containsExactly(NAME);
        assertThat(store().isBundled(NAME)).isTrue();
        assertThat(store().verify(NAME)).isEmpty();
        List<String> remarks = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            Weights weights = store().open(NAME, arena, remarks::add);
            assertThat(weights.architecture()).isEqualTo(BundledWeights.NAME);
            assertThat(weights.tensors().keySet()).containsExactlyElementsOf(VALUES.keySet());
        }
        assertThat(remarks).isEmpty();
    }

    @Test
    void aBuildWithoutThemSaysHowToImportThem() throws IOException {
        assumeTrue(!BundledWeights.has(BundledWeights.NAME), "this build has bundled weights");
        assertThat(store().available()).isEmpty();
        try (Arena arena = Arena.ofConfined()) {
            assertRejected(
                    MissingWeightsException.class,
                    () -> store().open(NAME, arena, _ -> {}),
                    "gramian-s",
                    "gramian weights import gramian-s");
        }
    }

    @Test
    void weightsOfJarAreOpenedByTheirName() throws Exception {
        WeightName lite4 = WeightName.parse("efficientnet-lite4-test");
        Path jar = Files.createDirectories(folder.resolve("jar").resolve(BundledWeights.FOLDER));
        SequencedMap<String, StoredTensor> values = Tensors32.random(
                new Random(4), ExpectedParameters.of("efficientnet-lite4").parameters());
        Path file = jar.resolve("efficientnet-lite4.safetensors");
        Safetensors.write(file, values, Map.of("input", "RGB mean=1,2,3 std=4,5,6"));
        Path checksum = jar.resolve("efficientnet-lite4.sha256");
        Files.writeString(checksum, Sha256.hex(Sha256.of(file)) + "\n");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(
                        new URL[] {folder.resolve("jar").toUri().toURL()}, before);
                Arena arena = Arena.ofConfined()) {
            thread.setContextClassLoader(loader);
            assertThat(store().available()).extracting(WeightName::text).contains("efficientnet-lite4");
            WeightName name = WeightName.parse("efficientnet-lite4");
            assertThat(BundledWeights.size(name.text())).isEqualTo(Files.size(file));
            Tensors32.assertSame(store().open(name, arena, _ -> {}).tensors(), values);
            assertThat(store().isBundled(lite4)).isFalse();
            Files.writeString(checksum, "0".repeat(64));
            assertThat(store().verify(name)).singleElement().asString().contains("SHA-256");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    @Test
    void aFileInTheStoreReplacesThem() throws IOException {
        content();
        store().importFile(NAME, folder.resolve("weights.safetensors"), _ -> {});
        assertThat(store().isBundled(NAME)).isFalse();
        assertThat(store().available()).containsExactly(NAME);
        try (Arena arena = Arena.ofConfined()) {
            Tensors32.assertSame(store().open(NAME, arena, _ -> {}).tensors(), VALUES);
        }
    }
}
