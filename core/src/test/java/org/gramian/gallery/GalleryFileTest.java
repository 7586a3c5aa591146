package org.gramian.gallery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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

    private static StoredTensor tensor(DType type, long... numbers) {
        MemorySegment data = Arena.ofAuto().allocate((long) numbers.length * type.bytes(), 8);
        for (int i = 0; i < numbers.length; i++) {
            switch (type) {
                case U8 -> data.set(ValueLayout.JAVA_BYTE, i, (byte) numbers[i]);
                case I32 -> data.setAtIndex(ValueLayout.JAVA_INT, i, (int) numbers[i]);
                default -> data.setAtIndex(ValueLayout.JAVA_LONG, i, numbers[i]);
            }
        }
        return new StoredTensor(type, Shape.of(numbers.length), data);
    }

    @Test
    void contradictingTensorsAreRefused() throws IOException {
        requireRefused(facts("label", "0", "1", "2"), Map.of("labels", tensor(DType.I32, 0, 1, 2)), Map.of());
        requireRefused(facts("label", "0", "1", "-1"), Map.of("labels", tensor(DType.I32, 0, 1, -1)), Map.of());
        requireRefused(facts("9"), Map.of("parts", tensor(DType.U8, 0, 1, 9)), Map.of());
        requireRefused(facts("training", "test"), Map.of("parts", tensor(DType.U8, 0, 2, 1)), Map.of());
        requireRefused(facts("labels", "I32"), Map.of("labels", tensor(DType.I64, 0, 1, 1)), Map.of());
        requireRefused(facts("vectors", "F16[2, 6]"), Map.of("labels", tensor(DType.I32, 0, 1)), Map.of());
        requireRefused(facts("name", "1"), Map.of("name_ends", tensor(DType.I64, 3, 2, 1)), Map.of());
        requireRefused(facts("name", "2"), Map.of("name_ends", tensor(DType.I64, 1, 2, Long.MAX_VALUE)), Map.of());
        requireRefused(facts("thumbnail"), Map.of("thumbnail_ends", tensor(DType.I64, 1, 2, 3)), Map.of());
        requireRefused(facts("7"), Map.of("more", tensor(DType.U8, 1)), Map.of());
        requireRefused(
                facts("JPEG", "thumbnail", "1"),
                Map.of("thumbnails", tensor(DType.U8, 1, 2, 3), "thumbnail_ends", tensor(DType.I64, 1, 2, 3)),
                Map.of());
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
        requireRefused(facts("2", "1"), Map.of(), Map.of("version", "2"));
        requireRefused(facts("fruit"), Map.of(), Map.of("fruit", "apple"));
        requireRefused(facts("1", "999999999"), Map.of(), Map.of("descriptor", "999999999"));
        requireRefused(facts("descriptor", "1e9"), Map.of(), Map.of("descriptor", "1e9"));
        requireRefused(facts("SHA-256"), Map.of(), Map.of("model", "abc"));
        requireRefused(facts("left_out", "X"), Map.of(), Map.of("left_out", "{\"X\":1}"));
        requireRefused(facts("-1"), Map.of(), Map.of("left_out", "{\"TEST\":-1}"));
        requireRefused(facts("left_out", "1.0E99"), Map.of(), Map.of("left_out", "{\"TEST\":1e99}"));
        requireRefused(facts("classes"), Map.of(), Map.of("classes", "3"));
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
