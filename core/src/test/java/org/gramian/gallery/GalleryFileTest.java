package org.gramian.gallery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.gramian.basis.Sha256;
import org.gramian.gallery.Gallery.GalleryBuilder;
import org.gramian.gallery.Gallery.GalleryFileException;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GalleryFileTest {
    private static final int DAMAGES = Boolean.getBoolean("gramian.full") ? 5000 : 200;

    @TempDir
    Path folder;

    @RandomTest(times = 6)
    void writtenGalleryIsReadAndWrittenIdentically(Seed seed) throws IOException {
        Gallery gallery = TinyGallery.of(
                seed.random(), seed.random().nextInt(5), seed.random().nextInt(1, 2000));
        Path once = folder.resolve("once");
        Path again = folder.resolve("again");
        gallery.write(once);
        Gallery read = Gallery.read(once);
        read.write(again);
        assertThat(Files.mismatch(once, again)).isEqualTo(-1);
        assertThat(read.classes()).isEqualTo(gallery.classes());
        assertThat(read.items()).isEqualTo(gallery.items());
        assertThat(read.model()).isEqualTo(TinyGallery.MODEL);
        assertThat(read.descriptorSize()).isEqualTo(gallery.descriptorSize());
        assertThat(read.leftOut(Subset.TEST)).isEqualTo(7);
        assertThat(read.leftOut(Subset.TRAINING)).isZero();
        for (int i = 0; i < gallery.items().size(); i++) {
            assertThat(read.thumbnail(i)).isEqualTo(gallery.thumbnail(i));
            assertThat(read.vector(i)).isEqualTo(gallery.vector(i)).hasSize(gallery.vectorSize());
        }
    }

    @Test
    void galleryOfAnotherModelIsRefused() throws IOException {
        Path model = folder.resolve("model.safetensors");
        Files.writeString(model, "a model");
        assertThat(Gallery.beside(model)).isEmpty();
        new GalleryBuilder(List.of("a"), 2, Sha256.hex(Sha256.of(model)))
                .build()
                .write(folder.resolve(Gallery.FILE));
        assertThat(Gallery.beside(model)).isPresent();
        Files.writeString(model, "another model");
        assertRejected(GalleryFileException.class, () -> Gallery.beside(model), "model.safetensors", "--resume");
    }

    @Test
    void everyFlippedBitAndTruncationIsRefused() throws IOException {
        Path whole = folder.resolve("whole");
        TinyGallery.of(new SplittableRandom(9), 2, 6).write(whole);
        byte[] bytes = Files.readAllBytes(whole);
        SplittableRandom random = new SplittableRandom(11);
        for (int i = 0; i < DAMAGES; i++) {
            byte[] other = random.nextInt(5) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes.clone();
            if (other.length == bytes.length) {
                int bit = random.nextInt(8 * (random.nextBoolean() ? 1200 : other.length));
                other[bit / 8] ^= (byte) (1 << bit % 8);
            }
            Path damaged = Files.write(folder.resolve("damaged"), other);
            assertThatThrownBy(() -> Gallery.read(damaged))
                    .as("damage %d", i)
                    .isInstanceOf(GalleryFileException.class)
                    .hasMessageStartingWith(damaged + ": ");
        }
    }

    /** Changes tensors or metadata of a gallery of 3 images with vectors of 6 numbers. */
    private Path changed(Map<String, StoredTensor> tensors, Map<String, String> metadata) throws IOException {
        Path path = folder.resolve("changed");
        try (Arena arena = Arena.ofConfined()) {
            Path whole = folder.resolve("whole");
            TinyGallery.of(new SplittableRandom(9), 1, 6).write(whole);
            TensorFile file = Safetensors.read(whole, arena);
            Map<String, StoredTensor> all = new LinkedHashMap<>(file.tensors());
            all.putAll(tensors);
            Map<String, String> texts = new LinkedHashMap<>(file.metadata());
            texts.putAll(metadata);
            Safetensors.writeChecked(path, all, texts);
        }
        return path;
    }

    private void requireRefused(Facts message, Map<String, StoredTensor> tensors, Map<String, String> metadata)
            throws IOException {
        Path path = changed(tensors, metadata);
        assertThatThrownBy(() -> Gallery.read(path))
                .isInstanceOf(GalleryFileException.class)
                .has(message);
    }

    private static StoredTensor bytes(byte[] bytes) {
        return new StoredTensor(DType.U8, Shape.of(bytes.length), MemorySegment.ofArray(bytes));
    }

    /** Refused with one change of the document of a gallery of 3 images with vectors of 6 numbers. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"label\":0|\"label\":2|label 0 1 2",
                "\"label\":0|\"label\":-1|label 0 1 -1",
                "\"label\":0|\"label\":1.5|label",
                "\"TRAINING\"}|\"TEST\"}|training test",
                "\"TRAINING\"}|\"FRUIT\"}|FRUIT",
                "\"TRAINING\"}|0}|subset",
                "\"descriptorSize\":6|\"descriptorSize\":7|vectors F16[3,",
                "\"descriptorSize\":6|\"descriptorSize\":999999999|1 999999999",
                "\"thumbnailBytes\":[|\"thumbnailBytes\":[3,|thumbnails 3",
                "\"thumbnailBytes\":[|\"thumbnailBytes\":[-3,|thumbnails 3",
                "0123|abc!|SHA-256",
                "\"TEST\":7|\"TEST\":-1|-1",
                "\"TEST\":7|\"X\":1|leftOut X",
                "\"TEST\":7|\"TEST\":1e99|leftOut",
                "\"about\"|\"fruit\"|about"
            })
    void contradictingDocumentIsRefused(String old, String changed, String values) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Path whole = folder.resolve("whole");
            TinyGallery.of(new SplittableRandom(9), 1, 6).write(whole);
            StoredTensor document = Safetensors.read(whole, arena).tensors().get("document");
            String json = new String(document.data().toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
            assertThat(json).contains(old);
            byte[] other = json.replace(old, changed).getBytes(StandardCharsets.UTF_8);
            requireRefused(facts((Object[]) values.split(" ")), Map.of("document", bytes(other)), Map.of());
        }
    }

    @Test
    void contradictingTensorsAreRefused() throws IOException {
        StoredTensor one = bytes(new byte[] {1, 2, 3});
        requireRefused(facts("3"), Map.of("more", one), Map.of());
        requireRefused(facts("vectors", "F16[3, 6]", "U8[3]"), Map.of("vectors", one), Map.of());
        requireRefused(facts("thumbnails", "3"), Map.of("thumbnails", one), Map.of());
        requireRefused(facts("JSON"), Map.of("document", bytes("JSON".getBytes(StandardCharsets.UTF_8))), Map.of());
    }

    @Test
    void galleryWithoutChecksumsIsRefused() throws IOException {
        Path path = folder.resolve("whole");
        TinyGallery.of(new SplittableRandom(9), 1, 6).write(path);
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = Safetensors.read(path, arena);
            Safetensors.write(folder.resolve("bare"), file.tensors(), file.metadata());
        }
        assertThatThrownBy(() -> Gallery.read(folder.resolve("bare"))).has(facts("checksums"));
    }

    @Test
    void metadataOfSomethingElseIsRefused() throws IOException {
        requireRefused(facts("gramian-model"), Map.of(), Map.of("format", "gramian-model"));
        requireRefused(facts("1", "2"), Map.of(), Map.of("version", "1"));
        requireRefused(facts("fruit"), Map.of(), Map.of("fruit", "apple"));
    }

    @Test
    void rejectsTooManyImagesOfASubset() {
        byte[] jpeg = TinyGallery.thumbnail(new SplittableRandom(1));
        GalleryBuilder builder = new GalleryBuilder(List.of("a"), 1, TinyGallery.MODEL);
        for (int i = 0; i <= Gallery.MAX_OF_SUBSET; i++) {
            builder.add(new Item("p", 0, Subset.TRAINING), jpeg, new float[][] {{1}});
        }
        assertRejected(builder::build, "20000");
    }
}
