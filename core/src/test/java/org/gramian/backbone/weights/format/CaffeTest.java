package org.gramian.backbone.weights.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.facts;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.SequencedMap;
import org.gramian.backbone.weights.format.PublishedFiles.CaffeLayers;
import org.gramian.backbone.weights.format.WeightFile.Format;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CaffeTest {
    @TempDir
    Path folder;

    private static SequencedMap<String, StoredTensor> tensors() {
        Random random = new Random(3);
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        tensors.put("conv1/7x7_s2.weight", Tensors32.random(random, Shape.of(4, 3, 7, 7)));
        tensors.put("conv1/7x7_s2.bias", Tensors32.random(random, Shape.of(4)));
        tensors.put("loss3/classifier.weight", Tensors32.random(random, Shape.of(5, 6)));
        return tensors;
    }

    @Test
    void blobsOfNewLayersAreNamedAndShaped() throws IOException {
        Path path = PublishedFiles.caffe(folder.resolve("a.caffemodel"), tensors(), CaffeLayers.NEW);
        try (Arena arena = Arena.ofConfined()) {
            WeightFile file = WeightFile.read(path, arena);
            assertThat(file.format()).isEqualTo(Format.CAFFE);
            Tensors32.assertSame(file.content().tensors(), tensors());
        }
    }

    @Test
    void blobsOfOldLayersHaveFourDimensions() throws IOException {
        Path path = PublishedFiles.caffe(folder.resolve("a.caffemodel"), tensors(), CaffeLayers.OLD);
        try (Arena arena = Arena.ofConfined()) {
            SequencedMap<String, StoredTensor> found =
                    WeightFile.read(path, arena).content().tensors();
            assertThat(found.keySet()).isEqualTo(tensors().keySet());
            assertThat(Tensors32.get(found, "conv1/7x7_s2.bias").shape()).isEqualTo(Shape.of(1, 1, 1, 4));
            assertThat(Tensors32.get(found, "loss3/classifier.weight").shape()).isEqualTo(Shape.of(1, 1, 5, 6));
            tensors()
                    .forEach((name, tensor) -> assertThat(
                                    Tensors32.get(found, name).data().mismatch(tensor.data()))
                            .as(name)
                            .isEqualTo(-1));
        }
    }

    @Test
    void doublePrecisionIsReadAsSuch() throws IOException {
        MemorySegment data = MemorySegment.ofArray(new byte[16]);
        Map<String, StoredTensor> one = Map.of("a.weight", new StoredTensor(DType.F64, Shape.of(2), data));
        Path path = PublishedFiles.caffe(folder.resolve("a.caffemodel"), one, CaffeLayers.NEW);
        try (Arena arena = Arena.ofConfined()) {
            Tensors32.assertSame(WeightFile.read(path, arena).content().tensors(), one);
        }
    }

    @Test
    void numbersThatAreNotPackedAreReadToo() throws IOException {
        ByteArrayOutputStream blob = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(blob);
        out.writeInt32(1, 3);
        out.writeInt32(2, 1);
        out.writeInt32(3, 1);
        out.writeInt32(4, 1);
        for (float value : new float[] {1, 2, 3}) {
            out.writeFloat(5, value);
        }
        out.flush();
        try (Arena arena = Arena.ofConfined()) {
            WeightFile file = WeightFile.read(network(blob.toByteArray()), arena);
            Tensors32.assertSame(
                    file.content().get("a0.weight"), Tensors32.of(Shape.of(3, 1, 1, 1), 1, 2, 3), "a0.weight");
        }
    }

    /** A blob of one number that is not packed. */
    private static final byte[] ONE = {8, 1, 16, 1, 24, 1, 32, 1, 45, 0, 0, 0, 0};

    @Test
    void smallBlobsTakeLittleMemory() throws IOException {
        int count = 20_000;
        byte[][] blobs = new byte[count][];
        Arrays.fill(blobs, ONE);
        Path path = network(1, blobs);
        long before = used();
        try (Arena arena = Arena.ofConfined()) {
            WeightFile file = WeightFile.read(path, arena);
            assertThat(used() - before).isLessThan(300L << 20); // a buffer of 64 KiB for each would be 1.2 GiB
            assertThat(file.content().tensors()).hasSize(count);
        }
    }

    private static long used() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void tooManyBlobsAreRefusedBeforeTheyAreRead() throws IOException {
        byte[][] blobs = new byte[17][];
        Arrays.fill(blobs, ONE);
        blobs[16] = new byte[] {42, 120, 0}; // would be damaged
        assertRefused(network(17, blobs), facts("16", "100000"));
        byte[][] many = new byte[100_001][];
        Arrays.fill(many, ONE);
        assertRefused(network(1, many), facts("a100000"));
    }

    @Test
    void aBlobInCountlessPiecesIsRefused() throws IOException {
        byte[] pieces = new byte[2 * 65_537];
        for (int i = 0; i < pieces.length; i += 2) {
            pieces[i] = 42; // data of no bytes
        }
        assertRefused(pieces, facts("65536"));
    }

    /** A network of one layer {@code a0} with one blob. */
    private Path network(byte[] blob) throws IOException {
        return network(1, blob);
    }

    /** A network of layers {@code a0}, {@code a1}, … with so many of the blobs each. */
    private Path network(int each, byte[]... blobs) throws IOException {
        ByteArrayOutputStream network = new ByteArrayOutputStream();
        CodedOutputStream whole = CodedOutputStream.newInstance(network);
        whole.writeString(1, "net");
        for (int first = 0; first < blobs.length; first += each) {
            ByteArrayOutputStream layer = new ByteArrayOutputStream();
            CodedOutputStream out = CodedOutputStream.newInstance(layer);
            out.writeString(1, "a" + first / each);
            for (int i = first; i < first + each; i++) {
                out.writeByteArray(7, blobs[i]);
            }
            out.flush();
            whole.writeByteArray(100, layer.toByteArray());
        }
        whole.flush();
        return Files.write(folder.resolve("b.caffemodel"), network.toByteArray());
    }

    @Test
    void lyingShapesAreRefused() throws IOException {
        assertRefused(new byte[] {8, 9, 16, 1, 24, 1, 32, 1, 42, 4, 0, 0, 0, 0}, facts("9", "shape"));
        assertRefused(new byte[] {42, 4, 0, 0, 0, 0}, facts("shape"));
        assertRefused(new byte[] {42, 3, 0, 0, 0}, facts("elements"));
        assertRefused(new byte[] {42, 120, 0, 0, 0}, facts("Caffe"));
        assertRefused(new byte[] {8, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 42, 4, 0, 0, 0, 0}, facts("shape"));
        assertRefused(new byte[] {58, 127}, facts("Caffe"));
    }

    private void assertRefused(byte[] blob, Facts message) throws IOException {
        assertRefused(network(blob), message);
    }

    private static void assertRefused(Path path, Facts message) {
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> WeightFile.read(path, arena))
                    .withMessageStartingWith(path + ": ")
                    .has(message);
        }
    }

    @Test
    void aNetworkWithoutTrainedLayersIsRefused() throws IOException {
        Path path = PublishedFiles.caffe(folder.resolve("a.caffemodel"), Map.of(), CaffeLayers.NEW);
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> WeightFile.read(path, arena))
                    .has(facts("Caffe", "layer"));
        }
    }
}
