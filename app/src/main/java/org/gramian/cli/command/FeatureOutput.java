package org.gramian.cli.command;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.ByteSize;
import org.gramian.basis.CsvText;
import org.gramian.basis.DiskSpace;
import org.gramian.basis.JsonText;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.export.ParquetFile;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;

/**
 * The file that {@code gramian features} and {@code gramian embed} write: {@code features [rows, c, h, w]} or {@code
 * descriptors [rows, d]}, {@code labels [rows]} and {@code image [rows]}, an index into the names in its metadata.
 *
 * <p>Features are collected in a nameless file beside it, for they may exceed memory, and the number of rows is known at
 * the end only; the real file then appears in one step. The nameless file is gone with this process, however it ends.
 */
final class FeatureOutput implements AutoCloseable {
    private static final ValueLayout.OfFloat VALUE =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Path path;
    private final String tensor;
    private final List<Sample> samples;
    private final FileChannel scratch;
    private final LongStream.Builder labels = LongStream.builder();
    private final LongStream.Builder images = LongStream.builder();
    private final List<String> names = new ArrayList<>();
    private final Map<String, String> unreadable = new LinkedHashMap<>();
    private int last = -1;
    private long rows;

    FeatureOutput(Path path, String tensor, List<Sample> samples) throws IOException {
        this.path = path;
        this.tensor = tensor;
        this.samples = samples;
        this.scratch = FileChannel.open(
                folder(path).resolve(".gramian-" + UUID.randomUUID() + ".partial"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE);
    }

    private static Path folder(Path path) {
        return Objects.requireNonNull(path.toAbsolutePath().getParent(), "a file has a folder");
    }

    /** Checks before the work that the disk has room for features, which are there twice while the file is put together. */
    static void requireSpace(Path path, long bytes) {
        long free = DiskSpace.usable(folder(path));
        if (Math.multiplyExact(2, bytes) > free) {
            throw new IllegalArgumentException(
                    "OUT needs " + ByteSize.text(bytes) + ", and as much again while it is written; found "
                            + ByteSize.text(free) + " free in " + folder(path) + "; free disk space");
        }
    }

    void feature(int sample, MemorySegment feature) throws IOException {
        if (sample != last) {
            last = sample;
            names.add(samples.get(sample).name());
        }
        ByteBuffer bytes = feature.asByteBuffer();
        try {
            while (bytes.hasRemaining()) {
                scratch.write(bytes);
            }
        } catch (IOException full) {
            throw AtomicFile.failure(path, full);
        }
        labels.add(samples.get(sample).label());
        images.add(names.size() - 1);
        rows++;
    }

    void unreadable(int sample, Unreadable problem) {
        unreadable.put(samples.get(sample).name(), problem.reason());
    }

    @FunctionalInterface
    interface Writing {
        void write() throws IOException;
    }

    /**
     * Reports unreadable images, and writes the file if there are rows.
     *
     * @param content what the rows are
     * @return the exit code
     */
    int finish(Console console, String content, Writing writing) throws IOException {
        unreadable.forEach((name, reason) -> console.warn("skipping " + name + ": " + reason));
        if (rows == 0) {
            console.say("no image could be read: " + path + " was not written");
            return ExitCode.DATA;
        }
        writing.write();
        console.out().printf("%s: %d %s%n", path, rows, content);
        return unreadable.isEmpty() ? ExitCode.DONE : ExitCode.DATA;
    }

    /** Writes the real file; {@code about} goes into its metadata, with the names and what could not be read. */
    void write(Shape feature, DType type, Map<String, String> about) throws IOException {
        Map<String, String> metadata = new LinkedHashMap<>(about);
        metadata.put("names", JsonText.of(names));
        metadata.put("unreadable", JsonText.of(unreadable));
        try (Arena arena = Arena.ofShared()) {
            MemorySegment features = scratch.map(FileChannel.MapMode.READ_ONLY, 0, scratch.size(), arena);
            long[] sizes = LongStream.concat(LongStream.of(rows), LongStream.of(feature.sizes()))
                    .toArray();
            StoredTensor stored = new StoredTensor(type, Shape.of(sizes), features);
            Safetensors.write(
                    path,
                    Map.of(tensor, stored, "labels", longs(labels, arena), "image", longs(images, arena)),
                    metadata);
        }
    }

    /** Writes descriptors as a table, with a name and class in each row. */
    void writeTable(Format format, int length, List<String> classes, boolean crops, Map<String, String> about)
            throws IOException {
        long[] image = images.build().toArray();
        long[] label = labels.build().toArray();
        SequencedMap<String, List<String>> columns = new LinkedHashMap<>();
        columns.put(
                "name", Arrays.stream(image).mapToObj(i -> names.get((int) i)).toList());
        columns.put(
                "class",
                Arrays.stream(label).mapToObj(i -> classes.get((int) i)).toList());
        if (crops) {
            List<String> numbers = new ArrayList<>();
            int crop = 0;
            for (int row = 0; row < image.length; row++) {
                crop = row > 0 && image[row] == image[row - 1] ? crop + 1 : 0;
                numbers.add(Integer.toString(crop));
            }
            columns.put("crop", numbers);
        }
        try (Arena arena = Arena.ofShared()) {
            MemorySegment values = scratch.map(FileChannel.MapMode.READ_ONLY, 0, scratch.size(), arena);
            switch (format) {
                case CSV -> csv(columns, length, values);
                case PARQUET -> ParquetFile.write(path, columns, "descriptor", length, values, about);
                case SAFETENSORS -> throw new IllegalArgumentException("safetensors files are no tables");
            }
        }
    }

    /** Writes columns of text, and a column for each of the {@code length} values of a row. */
    private void csv(SequencedMap<String, List<String>> columns, int length, MemorySegment values) throws IOException {
        AtomicFile.putText(path, text -> {
            CsvWriter writer = CsvWriter.builder()
                    .lineDelimiter(LineDelimiter.LF)
                    .bufferSize(0)
                    .build(text);
            List<String> header = new ArrayList<>(columns.keySet());
            for (int i = 0; i < length; i++) {
                header.add("d" + i);
            }
            writer.writeRecord(header);
            for (int row = 0; row < rows; row++) {
                List<String> cells = new ArrayList<>(header.size());
                for (List<String> column : columns.values()) {
                    cells.add(CsvText.safe(column.get(row)));
                }
                for (int i = 0; i < length; i++) {
                    cells.add(Float.toString(values.get(VALUE, ((long) row * length + i) * Float.BYTES)));
                }
                writer.writeRecord(cells);
            }
        });
    }

    private StoredTensor longs(LongStream.Builder values, Arena arena) {
        MemorySegment data = arena.allocateFrom(JAVA_LONG, values.build().toArray());
        return new StoredTensor(DType.I64, Shape.of(rows), data);
    }

    @Override
    public void close() throws IOException {
        scratch.close();
    }

    /** File formats of {@code gramian embed}. */
    enum Format {
        /** Tensors with names and classes in the metadata. */
        SAFETENSORS,
        /** A row per descriptor: name, class, values. */
        CSV,
        /** Columns name, class and descriptor, a list of floats. */
        PARQUET;

        static Format of(Path out) {
            String name = out.toString().toLowerCase(Locale.ROOT);
            return Arrays.stream(values())
                    .filter(format -> name.endsWith(format.ending()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("OUT: expected a file that ends with "
                            + Arrays.stream(values()).map(Format::ending).collect(Collectors.joining(", ")) + ", found "
                            + out));
        }

        private String ending() {
            return "." + name().toLowerCase(Locale.ROOT);
        }

        /** About how many bytes a value of 4 bytes takes. */
        int bytesPerValue() {
            return this == CSV ? 13 : Float.BYTES;
        }
    }
}
