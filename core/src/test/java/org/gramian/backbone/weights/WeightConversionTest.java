package org.gramian.backbone.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import org.gramian.backbone.BackboneInfo.Licence;
import org.gramian.backbone.weights.Naming.Publisher;
import org.gramian.backbone.weights.format.PublishedFiles;
import org.gramian.backbone.weights.format.Tensors32;
import org.gramian.backbone.weights.format.WeightFile;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same weights through every publisher's format, names and layout, and what is said of wrong ones. */
final class WeightConversionTest {
    private final Arena arena = Arena.ofAuto();

    @TempDir
    Path folder;

    private static SequencedMap<String, StoredTensor> values(ExpectedParameters blueprint) {
        return Tensors32.random(new Random(5), blueprint.parameters());
    }

    /** The values under the names of a publisher, in our layout. */
    private static SequencedMap<String, StoredTensor> named(ExpectedParameters blueprint, Publisher publisher) {
        Naming naming = Naming.known(blueprint).stream()
                .filter(known -> known.publisher().equals(publisher))
                .findFirst()
                .orElseThrow();
        SequencedMap<String, StoredTensor> named = new LinkedHashMap<>();
        values(blueprint).forEach((name, tensor) -> named.put(naming.of(name), tensor));
        return named;
    }

    private WeightConversion convert(Path path, ExpectedParameters blueprint) throws IOException {
        return WeightConversion.of(WeightFile.read(path, arena, _ -> {}), blueprint, false);
    }

    private WeightConversion assertConverted(Path path, ExpectedParameters blueprint, Preprocessing preprocessing)
            throws IOException {
        WeightConversion conversion = convert(path, blueprint);
        Tensors32.assertSame(conversion.tensors(), values(blueprint));
        assertThat(conversion.tensors().keySet())
                .containsExactlyElementsOf(blueprint.parameters().keySet());
        assertThat(conversion.preprocessing()).isEqualTo(preprocessing);
        return conversion;
    }

    @ParameterizedTest
    @ValueSource(strings = {"vgg16", "vgg19", "resnet18", "resnet50", "squeezenet", "mobilenet_v3_large"})
    void torchvisionsFilesHoldTheSame(String architecture) throws IOException {
        ExpectedParameters blueprint = SmallNetworks.of(architecture);
        SequencedMap<String, StoredTensor> named = named(blueprint, Publisher.TORCHVISION);
        Path path = folder.resolve("file");
        WeightConversion supposed =
                assertConverted(PublishedFiles.torchZip(path, named), blueprint, Preprocessing.TORCHVISION);
        assertThat(supposed.remarks()).singleElement().has(facts("torchvision", Preprocessing.TORCHVISION.text()));
        assertThat(supposed.licence()).isEqualTo(Weights.UNSTATED);
        WeightConversion published = WeightConversion.of(WeightFile.read(path, arena, _ -> {}), blueprint, true);
        assertThat(published.remarks()).isEmpty();
        assertThat(published.licence()).isEqualTo(Licence.TORCHVISION.text());
        Safetensors.write(path, named, Map.of());
        assertConverted(path, blueprint, Preprocessing.TORCHVISION);
    }

    @ParameterizedTest
    @ValueSource(strings = {"vgg16", "resnet18", "googlenet", "squeezenet", "efficientnet-lite4"})
    void ownNamesNeedNothingElse(String architecture) throws IOException {
        ExpectedParameters blueprint = SmallNetworks.of(architecture);
        Path path = folder.resolve("file");
        Safetensors.write(path, values(blueprint), Map.of("input", "BGR mean=1,2,3 std=4,5,6"));
        assertConverted(path, blueprint, Preprocessing.parse("BGR mean=1,2,3 std=4,5,6"));
    }

    @Test
    void whatImagesMustLookLikeIsAssumedAloud() throws IOException {
        ExpectedParameters blueprint = SmallNetworks.of("googlenet");
        Path path = folder.resolve("file");
        Safetensors.write(path, values(blueprint), Map.of());
        assertThat(assertConverted(path, blueprint, Preprocessing.CAFFE).remarks())
                .singleElement()
                .has(facts("BGR mean=104,117,123 std=1,1,1"));
        Safetensors.write(path, values(blueprint), Map.of("input", "grey"));
        assertThat(assertConverted(path, blueprint, Preprocessing.CAFFE).remarks())
                .singleElement()
                .has(facts("grey", "BGR mean=104,117,123 std=1,1,1"));
    }

    @Test
    void countsOfBatchesAndAuxiliaryClassifiersAreLeftOutAndSaid() throws IOException {
        ExpectedParameters resNet = SmallNetworks.of("resnet18");
        SequencedMap<String, StoredTensor> torch = named(resNet, Publisher.TORCHVISION);
        torch.put(
                "bn1.num_batches_tracked", new StoredTensor(DType.I64, Shape.of(), MemorySegment.ofArray(new byte[8])));
        Path path = folder.resolve("file");
        Safetensors.write(path, torch, Map.of("input", Preprocessing.TORCHVISION.text()));
        assertThat(assertConverted(path, resNet, Preprocessing.TORCHVISION).remarks())
                .singleElement()
                .has(facts("1", "num_batches_tracked"));
        ExpectedParameters googLeNet = SmallNetworks.of("googlenet");
        SequencedMap<String, StoredTensor> caffe = values(googLeNet);
        caffe.put("loss1/conv.weight", Tensors32.of(Shape.of(1), 1));
        Safetensors.write(path, caffe, Map.of("input", Preprocessing.CAFFE.text()));
        assertThat(assertConverted(path, googLeNet, Preprocessing.CAFFE).remarks())
                .singleElement()
                .has(facts("loss1/conv.weight"));
    }

    @Test
    void aFileWithoutClassifierIsGoodForFeatures() throws IOException {
        ExpectedParameters blueprint = SmallNetworks.of("vgg16");
        SequencedMap<String, StoredTensor> named = named(blueprint, Publisher.TORCHVISION);
        named.keySet().removeIf(name -> name.startsWith("classifier"));
        WeightConversion conversion = convert(PublishedFiles.torchZip(folder.resolve("file"), named), blueprint);
        assertThat(conversion.tensors()).hasSize(26).containsKey("conv5_3.bias").doesNotContainKey("fc6.weight");
        assertThat(conversion.remarks()).first().asString().has(facts("classifier.0.weight"));
    }

    @Test
    void aClassifierOfOtherClassesIsLeftOutAndSaid() throws IOException {
        ExpectedParameters blueprint = SmallNetworks.of("resnet18");
        SequencedMap<String, StoredTensor> named = named(blueprint, Publisher.TORCHVISION);
        named.put("fc.weight", Tensors32.random(new Random(1), Shape.of(10, 16)));
        named.put("fc.bias", Tensors32.random(new Random(2), Shape.of(10)));
        Path path = PublishedFiles.torchZip(folder.resolve("file"), named);
        WeightConversion conversion = convert(path, blueprint);
        assertThat(conversion.tensors()).hasSize(100).containsKey("layer4.1.bn2.bias");
        assertThat(conversion.remarks())
                .first()
                .asString()
                .has(facts("fc.weight", "[10, 16]", "[31, 16]", "fc.bias", "[10]", "[31]"));
        named.put("bn1.bias", Tensors32.of(Shape.of(1), 1));
        assertRefused(PublishedFiles.torchZip(path, named), blueprint, facts("bn1.bias", "F32", "[1]"));
    }

    @Test
    void allThatIsWrongIsListedAtOnce() throws IOException {
        ExpectedParameters blueprint = SmallNetworks.of("vgg16");
        SequencedMap<String, StoredTensor> named = named(blueprint, Publisher.TORCHVISION);
        named.remove("features.0.bias");
        named.remove("features.28.weight");
        named.put("features.2.weight", Tensors32.of(Shape.of(1, 2), 1, 2));
        named.put("features.99.weight", Tensors32.of(Shape.of(1), 1));
        assertRefused(
                PublishedFiles.torchZip(folder.resolve("file"), named),
                blueprint,
                facts(
                        "vgg16",
                        "features.0.bias",
                        "features.28.weight",
                        "features.2.weight",
                        "F32",
                        "[1, 2]",
                        "[2, 2, 3, 3]",
                        "features.99.weight"));
    }

    @Test
    void wholeNumbersAreNoWeights() throws IOException {
        ExpectedParameters blueprint = SmallNetworks.of("squeezenet");
        SequencedMap<String, StoredTensor> named = values(blueprint);
        Shape shape = blueprint.parameters().getOrDefault("conv1.bias", Shape.of());
        MemorySegment data = MemorySegment.ofArray(new byte[Math.toIntExact(shape.elements()) * 4]);
        named.put("conv1.bias", new StoredTensor(DType.I32, shape, data));
        Path path = folder.resolve("file");
        Safetensors.write(path, named, Map.of());
        assertRefused(path, blueprint, facts("conv1.bias", "I32", "[2]", "[2]"));
    }

    private void assertRefused(Path path, ExpectedParameters blueprint, Facts message) {
        assertThatExceptionOfType(TensorFileException.class)
                .isThrownBy(() -> convert(path, blueprint))
                .withMessageStartingWith(path + ": ")
                .has(message);
    }
}
