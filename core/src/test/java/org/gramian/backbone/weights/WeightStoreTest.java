package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights.Provenance;
import org.gramian.backbone.weights.format.PublishedFiles;
import org.gramian.backbone.weights.format.Tensors32;
import org.gramian.basis.Sha256;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class WeightStoreTest {
    /** The smallest network in full: five megabytes. */
    private static final WeightName NAME = WeightName.parse("squeezenet");

    private static final SequencedMap<String, StoredTensor> VALUES =
            Tensors32.random(new Random(9), ExpectedParameters.of("squeezenet").parameters());

    private final List<String> remarks = new ArrayList<>();

    @TempDir
    Path folder;

    private WeightStore store() {
        return new WeightStore(folder.resolve("store"));
    }

    private Path published() throws IOException {
        Naming naming = Naming.known(ExpectedParameters.of("squeezenet")).getFirst();
        SequencedMap<String, StoredTensor> named = new LinkedHashMap<>();
        VALUES.forEach((name, tensor) -> named.put(naming.of(name), tensor));
        return PublishedFiles.torchZip(folder.resolve("squeezenet1_1.pth"), named);
    }

    @Test
    void importedWeightsAreOpenedWithAllThatIsKnownOfThem() throws IOException {
        Path source = published();
        Path installed = store().importFile(NAME, source, remarks::add);
        assertThat(installed).isEqualTo(folder.resolve("store").resolve("squeezenet.safetensors"));
        try (Arena arena = Arena.ofConfined()) {
            Weights weights = store().open(NAME, arena, remarks::add);
            Tensors32.assertSame(weights.tensors(), VALUES);
            assertThat(weights.preprocessing()).isEqualTo(Preprocessing.TORCHVISION);
            assertThat(weights.architecture()).isEqualTo("squeezenet");
            Provenance provenance = weights.provenance();
            assertThat(provenance.source()).isEqualTo("squeezenet1_1.pth");
            assertThat(provenance.sourceSha256()).isEqualTo(Sha256.hex(Sha256.of(source)));
            assertThat(provenance.licence()).isEqualTo(Weights.UNSTATED);
            assertThat(provenance.fingerprint()).isEqualTo(Weights.fingerprint(VALUES, Optional.empty()));
        }
        assertThat(store().provenance(NAME).source()).isEqualTo("squeezenet1_1.pth");
        assertThat(remarks).singleElement().has(facts("torchvision", Preprocessing.TORCHVISION.text()));
        assertThat(store().verify(NAME)).isEmpty();
        assertThat(store().names()).containsExactly(NAME);
        try (Stream<Path> files = Files.list(folder.resolve("store"))) {
            assertThat(files).containsExactly(installed);
        }
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void weightsThatAreNotFiniteAreRefused(float value) throws IOException {
        SequencedMap<String, StoredTensor> wrong = new LinkedHashMap<>(VALUES);
        String name = wrong.lastEntry().getKey();
        float[] numbers =
                new float[Math.toIntExact(Tensors32.get(wrong, name).shape().elements())];
        numbers[7] = value;
        wrong.put(name, Tensors32.of(Tensors32.get(wrong, name).shape(), numbers));
        Path file = folder.resolve("wrong.safetensors");
        Safetensors.write(file, wrong, Map.of("input", Preprocessing.TORCHVISION.text()));
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> store().importFile(NAME, file, remarks::add))
                .withMessageStartingWith(file + ": ")
                .has(facts("finite", "7", "'" + name + "'"));
        assertThat(store().holds(NAME)).isFalse();
    }

    @Test
    void theFingerprintIsOfTheNumbersAndNotOfTheFile() throws IOException {
        Path other = folder.resolve("other.safetensors");
        Safetensors.write(other, VALUES, Map.of("input", Preprocessing.TORCHVISION.text(), "license", "mine"));
        try (Arena arena = Arena.ofConfined()) {
            Weights fromTorch = Weights.read("squeezenet", published(), arena, remarks::add);
            Weights fromSafetensors = Weights.read("squeezenet", other, arena, remarks::add);
            assertThat(fromSafetensors.provenance().fingerprint())
                    .isEqualTo(fromTorch.provenance().fingerprint());
            assertThat(fromSafetensors.provenance().licence()).isEqualTo("mine");
            assertThat(fromSafetensors.preprocessing()).isEqualTo(fromTorch.preprocessing());
        }
        assertThat(remarks).hasSize(1); // of the first, which states nothing
    }

    @Test
    void oneChangedBitIsFoundByVerifyAndWhenOpened() throws IOException {
        Path installed = store().importFile(NAME, published(), remarks::add);
        try (RandomAccessFile file = new RandomAccessFile(installed.toFile(), "rw")) {
            file.seek(file.length() - 1000);
            int before = file.read();
            file.seek(file.length() - 1000);
            file.write(before ^ 1);
        }
        assertThat(store().verify(NAME))
                .singleElement()
                .asString()
                .has(facts(Weights.fingerprint(VALUES, Optional.empty())));
        assertNotOpened(facts(Weights.fingerprint(VALUES, Optional.empty())));
    }

    private void assertNotOpened(Facts message) {
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> store().open(NAME, arena, remarks::add))
                    .withMessageStartingWith(store().file(NAME) + ": ")
                    .has(message);
        }
    }

    @Test
    void aFileThatSomebodyPutThereWorksButCannotBeVerified() throws IOException {
        Files.createDirectories(store().folder());
        Safetensors.write(store().file(NAME), VALUES, Map.of());
        try (Arena arena = Arena.ofConfined()) {
            Weights weights = store().open(NAME, arena, remarks::add);
            assertThat(weights.provenance().fingerprint()).isEqualTo(Weights.fingerprint(VALUES, Optional.empty()));
        }
        assertThat(remarks).singleElement().has(facts(Preprocessing.CAFFE.text()));
        assertThat(store().verify(NAME)).singleElement().asString().has(facts("fingerprint"));
    }

    /** The two forms of ResNet-50 have the same tensors. */
    @Test
    void rejectsOtherFormOfResNet() throws IOException {
        Path stated = zeros("resnet50", Map.of("architecture", "resnet50-v1"));
        assertRejected(
                TensorFileException.class,
                () -> store().importFile(WeightName.parse("resnet50"), stated, remarks::add),
                "resnet50-v1",
                "metadata");
    }

    private Path zeros(String network, Map<String, String> metadata) throws IOException {
        Path file = folder.resolve("zeros.safetensors");
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment zeros = arena.allocate(8L << 20, 8);
            ExpectedParameters.of(network)
                    .parameters()
                    .forEach((name, shape) -> tensors.put(
                            name, new StoredTensor(DType.F16, shape, zeros.asSlice(0, 2 * shape.elements()))));
            Safetensors.write(file, tensors, metadata);
        }
        return file;
    }

    @Test
    void aWrongFileLeavesTheOldWeightsAlone() throws IOException {
        Path installed = store().importFile(NAME, published(), remarks::add);
        byte[] before = Files.readAllBytes(installed);
        Path wrong = PublishedFiles.torchZip(
                folder.resolve("wrong.pth"), new LinkedHashMap<>(Map.of("features.0.bias", VALUES.get("conv1.bias"))));
        assertRejected(
                TensorFileException.class, () -> store().importFile(NAME, wrong, remarks::add), "'features.0.weight'");
        assertThat(Files.readAllBytes(installed)).isEqualTo(before);
    }

    @Test
    void aBackboneGetsItsParameters() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Weights weights = Weights.read("squeezenet", published(), arena, remarks::add);
            Backbone backbone = Backbone.of("squeezenet", "fire4");
            try (ParameterSet parameters = weights.load(backbone, DType.F32, Device.CPU)) {
                for (Parameter parameter : parameters.all()) {
                    StoredTensor found = StoredTensor.of(parameter.value());
                    Tensors32.assertSame(found, Tensors32.get(VALUES, parameter.name()), parameter.name());
                }
                assertThat(parameters.all()).hasSameSizeAs(backbone.parameters());
            }
            assertRejected(
                    () -> weights.load(Backbone.of("resnet18"), DType.F32, Device.CPU), "resnet18", "squeezenet");
            SequencedMap<String, StoredTensor> headless = new LinkedHashMap<>(weights.tensors());
            headless.remove("conv10.bias");
            Weights features = new Weights("squeezenet", headless, weights.preprocessing(), weights.provenance());
            assertRejected(
                    () -> features.load(Backbone.of("squeezenet", "logits"), DType.F32, Device.CPU), "conv10.bias");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "vgg", "vgg161", "VGG16", "../vgg16", "vgg16-a/b", "vgg16-\u001b", "filters"})
    void otherNamesAreRefused(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WeightName.parse(name))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));
    }
}
