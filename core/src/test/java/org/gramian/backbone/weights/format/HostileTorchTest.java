package org.gramian.backbone.weights.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.testing.Facts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
final class HostileTorchTest {
    @TempDir
    Path folder;

    @ParameterizedTest(name = "{1}")
    @MethodSource("pickles")
    void rejectsHostilePickle(Pickle pickle, Facts message) throws IOException {
        assertRefused(zip(pickle.end()), message);
    }

    static Stream<Arguments> pickles() {
        return Stream.of(requests(), places(), structures()).flatMap(all -> all);
    }

    private static Pickle start() {
        return Pickle.start();
    }

    private static Stream<Arguments> requests() {
        return Stream.of(
                arguments(start().global("builtins", "eval").text("1").op(0x85, 'R'), facts("builtins.eval")),
                arguments(start().global("posix", "system").text("true").op(0x85, 'R'), facts("posix.system")),
                arguments(start().text("os").text("system").op(0x93), facts("0x93")), // STACK_GLOBAL
                arguments(start().global("torch.storage", "_load_from_bytes"), facts("torch.storage._load_from_bytes")),
                arguments(start().global("torch", "load"), facts("torch.load")),
                arguments(start().global("a\u001b[31m", "b"), facts("a\uFFFD[31m.b")),
                arguments(start().global("torch", "ComplexFloatStorage"), facts("ComplexFloatStorage", "F64")),
                arguments(start().global("torch", "FloatStorage").op(')', 'R'), facts("torch.FloatStorage")),
                arguments(start().text("module").op(0x85, 'Q'), facts("storage")),
                arguments(start().op('i'), facts("0x69")), // INST, which imports and calls
                arguments(start().op('o'), facts("0x6f")), // OBJ
                arguments(start().op(0x81), facts("0x81")), // NEWOBJ
                arguments(start().op(0x82, 1), facts("0x82")), // EXT1
                arguments(start().global("torch", "FloatStorage").op('}', 'b'), facts("attributes")));
    }

    private static Arguments place(long offset, long[] sizes, long[] strides, Facts message) {
        Pickle storage = new Pickle().storage(DType.F32, "0", 4);
        return arguments(
                start().op('}')
                        .text("a")
                        .tensor(storage, offset, sizes, strides)
                        .op('s'),
                message);
    }

    private static Stream<Arguments> places() {
        return Stream.of(
                place(0, new long[] {5}, new long[] {1}, facts("storage", "4")),
                place(1, new long[] {4}, new long[] {1}, facts("storage", "4")),
                place(0, new long[] {2, 2}, new long[] {3, 1}, facts("storage", "4")),
                place(0, new long[] {1000, 1000}, new long[] {0, 0}, facts("storage")),
                place(-1, new long[] {1}, new long[] {1}, facts("0")),
                place(0, new long[] {-1}, new long[] {1}, facts("0")),
                place(0, new long[] {2}, new long[] {-1}, facts("0")),
                place(0, new long[] {2, 2}, new long[] {1}, facts("tensor")),
                place(
                        0,
                        new long[] {2_000_000_000, 2_000_000_000, 2_000_000_000},
                        new long[] {1, 1, 1},
                        facts("tensor")),
                place(0, repeated(65), repeated(65), facts("64", "65")));
    }

    private static long[] repeated(int count) {
        long[] ones = new long[count];
        Arrays.fill(ones, 1);
        return ones;
    }

    private static Stream<Arguments> structures() {
        return Stream.of(
                arguments(start(), facts("1", "stack", "0")),
                arguments(start().op('t'), facts("mark")),
                arguments(start().op('N', 'a'), facts("stack")),
                arguments(start().op('N', 'N', 'a'), facts("list")),
                arguments(start().op('N', '(', 'N', 'u'), facts("dictionary")),
                arguments(start().op('}', '(', 'N', 'u'), facts("dictionary")),
                arguments(start().op('}', ']', 'N', 's'), facts("key")),
                arguments(start().op('h', 7), facts("7")),
                arguments(start().op('q', 0), facts("stack")),
                arguments(start().op(0x8a, 255), facts("8", "255")),
                arguments(start().op('X').number4(-1), facts("pickle")),
                arguments(start().op('X', 1, 0, 0, 0, 0xff), facts("UTF-8")),
                arguments(new Pickle().op(0x80, 4).op('N'), facts("protocol", "2")),
                arguments(start().op('N'), facts("dictionary")),
                arguments(start().op('}'), facts("tensor", "0")),
                arguments(start().op('}').text("a").whole(1).op('s'), facts("tensor", "1", "a")),
                arguments(start().raw(new byte[1001]), facts("0x00")),
                arguments(start().op('c').raw("x".repeat(1001).getBytes(StandardCharsets.US_ASCII)), facts("1000")));
    }

    @Test
    void rejectsDictionaryInsideItself() throws IOException {
        Pickle pickle = start().op('}', 'q', 0).text("state_dict").op('h', 0, 's');
        assertRefused(zip(pickle.end()), facts("tensor"));
    }

    @Test
    void skipsListInsideItself() throws IOException {
        Pickle storage = new Pickle().storage(DType.F32, "0", 1);
        Pickle pickle = start().op('}', '(').text("a").tensor(storage, 0, new long[] {1}, new long[] {1});
        pickle.text("b").op(']', 'q', 0, 'h', 0, 'a', 'u');
        try (Arena arena = Arena.ofConfined()) {
            List<String> remarks = new ArrayList<>();
            WeightFile.read(zip(pickle.end(), new byte[4]), arena, remarks::add);
            assertThat(remarks).singleElement().has(facts("b"));
        }
    }

    /** As {@code torch.save} of a checkpoint of {@code nn.DataParallel}. */
    @Test
    void readsStateOfCheckpoint() throws IOException {
        Pickle storage = new Pickle().storage(DType.F32, "0", 1);
        Pickle pickle =
                start().op('}', '(').text("epoch").whole(3).text("best").op('N').text("state_dict");
        pickle.op('}')
                .text("module.a")
                .tensor(storage, 0, new long[] {1}, new long[] {1})
                .op('s', 'u');
        try (Arena arena = Arena.ofConfined()) {
            List<String> remarks = new ArrayList<>();
            TensorFile file = WeightFile.read(zip(pickle.end(), new byte[4]), arena, remarks::add);
            assertThat(file.tensors()).containsOnlyKeys("a");
            assertThat(remarks)
                    .zipSatisfy(
                            List.of("'state_dict'", "'module.'"),
                            (remark, name) -> assertThat(remark).contains(name));
        }
    }

    @Test
    void checkpointIsUnwrappedAndPrefixRemoved() throws IOException {
        Pickle storage = new Pickle().storage(DType.F32, "0", 1);
        Pickle pickle =
                start().op('}', '(').text("epoch").whole(3).text("state_dict").op('}');
        pickle.text("module.a")
                .tensor(storage, 0, new long[] {1}, new long[] {1})
                .op('s', 'u');
        List<String> remarks = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            assertThat(WeightFile.read(zip(pickle.end(), new byte[4]), arena, remarks::add)
                            .tensors())
                    .containsOnlyKeys("a");
        }
        assertThat(remarks).hasSize(2);
        assertThat(remarks.getFirst()).has(facts("'state_dict'"));
        assertThat(remarks.getLast()).has(facts("'module.'"));
    }

    @Test
    void rejectsTooManyOperationsMemosAndMarks() throws IOException {
        byte[] values = new byte[PickleReader.MAX_OPERATIONS + 1];
        Arrays.fill(values, (byte) 'N');
        assertRefused(zip(start().raw(values).end()), facts("2000000"));
        byte[] marks = new byte[PickleReader.MAX_MARKS + 1];
        Arrays.fill(marks, (byte) '(');
        assertRefused(zip(start().raw(marks).end()), facts("1000"));
        ByteBuffer memories =
                ByteBuffer.allocate(5 * (PickleReader.MAX_REMEMBERED + 1)).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i <= PickleReader.MAX_REMEMBERED; i++) {
            memories.put((byte) 'r').putInt(i);
        }
        assertRefused(zip(start().op('N').raw(memories.array()).end()), facts("500000"));
    }

    /** One row of a million numbers, remembered, and named again by every operation. */
    private static Pickle remembered(Pickle item, int count) {
        Pickle pickle = start().op('(');
        for (int i = 0; i < count; i++) {
            pickle.raw(item.content());
        }
        return pickle.op('t', 'q', 0);
    }

    @Test
    void rejectsLongShapeBeforeCopying() throws IOException {
        Pickle pickle = remembered(new Pickle().op('K', 1), 1_000_000);
        Pickle storage = new Pickle().storage(DType.F32, "0", 4);
        pickle.global("torch._utils", "_rebuild_tensor_v2").op('q', 1);
        pickle.op('(').raw(storage.content()).whole(0).op('h', 0, 'h', 0, 't', 'q', 2);
        for (int i = 0; i < 100_000; i++) {
            pickle.op('h', 1, 'h', 2, 'R');
        }
        assertRefused(zip(pickle.end()), facts("64", "1000000"));
    }

    @Test
    void rejectsLongNames() throws IOException {
        String name = "x".repeat(10_001);
        Facts message = facts("10000", "10001");
        assertRefused(zip(start().op('}').text(name).op('N', 's').end()), message);
        assertRefused(zip(new Pickle().storage(DType.F32, name, 1).end()), message);
    }

    /** Entries of a directory may all lead to the same bytes. */
    @Test
    void limitsTotalOfEntriesThatShareBytes() throws IOException {
        int size = 1_000_000;
        Pickle pickle = start().op('}', '(');
        for (int i = 0; i < 100; i++) {
            Pickle storage = new Pickle().storage(DType.F32, "" + i, size / 4);
            pickle.text("t" + i).tensor(storage, 0, new long[] {1}, new long[] {1});
        }
        Path path = zip(pickle.op('u').end(), new byte[100][0]);
        byte[] archive = shared(Files.readAllBytes(path), size);
        assertRefused(Files.write(path, archive), facts("67108864"));
    }

    /** Puts an entry in front and lets the directory's entries of storages lead to it. */
    private static byte[] shared(byte[] archive, int size) throws IOException {
        ByteArrayOutputStream first = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(first)) {
            PublishedFiles.entry(zip, "x", new byte[size], ZipEntry.STORED);
        }
        ByteBuffer front = ByteBuffer.wrap(first.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
        int frontSize = front.getInt(front.limit() - 22 + 16); // up to its directory
        ByteBuffer whole = ByteBuffer.allocate(frontSize + archive.length).order(ByteOrder.LITTLE_ENDIAN);
        whole.put(front.array(), 0, frontSize).put(archive);
        int end = whole.limit() - 22;
        int at = whole.getInt(end + 16) + frontSize;
        whole.putInt(end + 16, at);
        for (int i = 0; i < whole.getShort(end + 10); i++) {
            boolean storage = i > 0;
            whole.putInt(at + 42, storage ? 0 : frontSize + whole.getInt(at + 42));
            if (storage) {
                whole.putInt(at + 16, front.getInt(14)).putInt(at + 20, size).putInt(at + 24, size);
            }
            at += 46 + whole.getShort(at + 28) + whole.getShort(at + 30) + whole.getShort(at + 32);
        }
        return whole.array();
    }

    /** Memory that is used up: files can be mapped, but nothing can be allocated. */
    private record FullArena(Arena mapped) implements Arena {
        FullArena() {
            this(Arena.ofAuto());
        }

        @Override
        public MemorySegment allocate(long byteSize, long byteAlignment) {
            throw new OutOfMemoryError("Cannot reserve " + byteSize + " bytes");
        }

        @Override
        public MemorySegment.Scope scope() {
            return mapped.scope();
        }

        @Override
        public void close() {
            // the collector's
        }
    }

    @Test
    void reportsInsufficientMemory() throws IOException {
        Path path = folder.resolve("packed.pth");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(path))) {
            PublishedFiles.entry(zip, "a/data.pkl", start().op('}').end(), ZipEntry.DEFLATED);
        }
        assertRejected(
                TensorFileException.class,
                () -> WeightFile.read(path, new FullArena(), _ -> {}),
                path,
                "heap",
                "GRAMIAN_JAVA_OPTS=-Xmx");
    }

    @Test
    void rejectsLargePickle() throws IOException {
        assertRefused(zip(new byte[WeightFile.TorchFile.MAX_PICKLE_BYTES + 1]), facts("16777216"));
    }

    @Test
    void rejectsZipBomb() throws IOException {
        Path path = folder.resolve("bomb.pth");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(path))) {
            Pickle storage = new Pickle().storage(DType.F32, "0", 25_000_000);
            byte[] pickle = start().op('}')
                    .text("a")
                    .tensor(storage, 0, new long[] {1}, new long[] {1})
                    .op('s')
                    .end();
            PublishedFiles.entry(zip, "a/data.pkl", pickle, ZipEntry.STORED);
            PublishedFiles.entry(zip, "a/data/0", new byte[100_000_000], ZipEntry.DEFLATED);
        }
        assertRefused(path, facts("100000000"));
    }

    @Test
    void rejectsStorageOfOtherSize() throws IOException {
        Pickle storage = new Pickle().storage(DType.F32, "0", 4);
        byte[] pickle = start().op('}')
                .text("a")
                .tensor(storage, 0, new long[] {4}, new long[] {1})
                .op('s')
                .end();
        assertRefused(zip(pickle, new byte[12]), facts("4", "F32", "a/data/0", "12"));
        assertRefused(zip(pickle), facts("a/data/0"));
    }

    @Test
    void rejectsOtherZipArchives() throws IOException {
        Path path = folder.resolve("other.zip");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(path))) {
            PublishedFiles.entry(zip, "readme.txt", new byte[3], ZipEntry.STORED);
        }
        assertRefused(path, facts("torch.save", "NAME/data.pkl"));
    }

    @Test
    void rejectsUnknownFormats() throws IOException {
        Path path = folder.resolve("file");
        assertRefused(Files.write(path, new byte[0]), facts("empty"));
        assertRefused(Files.write(path, new byte[300]), facts("00 00 00 00 00 00 00 00"));
        assertRefused(Files.write(path, new byte[] {(byte) 0x80, 2, 'N', '.'}), facts("pickle", "1.6", "re-save"));
        byte[] tar = new byte[512];
        System.arraycopy("ustar".getBytes(StandardCharsets.US_ASCII), 0, tar, 257, 5);
        assertRefused(Files.write(path, tar), facts("tar"));
        assertRefused(folder, facts("directory"));
        byte[] hdf5 = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0};
        assertRefused(Files.write(folder.resolve("vgg16.h5"), hdf5), facts("HDF5", "Keras", "ONNX"));
        assertRefused(
                Files.write(folder.resolve("a.caffemodel"), new byte[] {0x0a, 1, 'a'}),
                facts("Caffe", "gramian weights import NAME FILE.onnx"));
    }

    @Test
    void rejectsEveryTruncation() throws IOException {
        byte[] whole = Files.readAllBytes(TorchFixtureTest.fixture("zip.pth"));
        Path path = folder.resolve("zip.pth");
        for (int size = 0; size < whole.length; size += 7) {
            assertRefused(Files.write(path, Arrays.copyOf(whole, size)), facts(path));
        }
    }

    private Path zip(byte[] pickle, byte[]... storages) throws IOException {
        Path path = folder.resolve("hostile.pth");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(path))) {
            PublishedFiles.entry(zip, "a/data.pkl", pickle, ZipEntry.STORED);
            for (int i = 0; i < storages.length; i++) {
                PublishedFiles.entry(zip, "a/data/" + i, storages[i], ZipEntry.STORED);
            }
        }
        return path;
    }

    private static void assertRefused(Path path, Facts message) {
        try (Arena arena = Arena.ofConfined()) {
            assertThatExceptionOfType(TensorFileException.class)
                    .isThrownBy(() -> WeightFile.read(path, arena, _ -> {}))
                    .withMessageStartingWith(path + ": ")
                    .has(message);
        }
    }
}
