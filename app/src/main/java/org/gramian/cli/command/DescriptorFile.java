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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.ByteSize;
import org.gramian.basis.CsvText;
import org.gramian.basis.DiskSpace;
import org.gramian.basis.EnumWords;
import org.gramian.basis.JsonText;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;

/**
 * The file that {@code gramian embed} writes.
 *
 * <p>Descriptors are collected in a nameless file beside it, for they may exceed memory, and the number of rows is known at
 * the end only; the real file then appears in one step. The nameless file is gone with this process, however it ends.
 */
final class DescriptorFile implements AutoCloseable {
    private static final ValueLayout.OfFloat VALUE =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** File formats, by the extension. */
    enum Format {
        /** Tensors with names and classes in the metadata. */
        SAFETENSORS,
        /** A row per descriptor: name, class, values. */
        CSV,
        /** Columns name, class and descriptor, a list of floats. */
        PARQUET;

        static Format of(Path out) {
            String name = String.valueOf(out.getFileName());
            try {
                return EnumWords.parse(Format.class, "OUT", name.substring(name.lastIndexOf('.') + 1));
            } catch (IllegalArgumentException wrong) {
                throw new IllegalArgumentException(
                        "OUT: expected a file that ends with .safetensors, .csv or .parquet, found " + out, wrong);
            }
        }
    }

    private final Path path;
    private final Format format;
    private final int length;
    private final FileChannel scratch;
    private final List<Sample> rows = new ArrayList<>();
    private final List<Integer> crops = new ArrayList<>();

    DescriptorFile(Path path, Format format, int length) throws IOException {
        this.path = path;
        this.format = format;
        this.length = length;
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

    /** Checks before the work that the disk has room for {@code rows}, which are there twice while the file is put together. */
    static void requireSpace(Path path, Format format, long rows, long length) {
        long valueBytes = format == Format.CSV ? 13 : Float.BYTES; // about
        long bytes = Math.multiplyExact(rows, Math.multiplyExact(length, valueBytes));
        long free = DiskSpace.usable(folder(path));
        if (Math.multiplyExact(2, bytes) > free) {
            throw new IllegalArgumentException(
                    "OUT needs " + ByteSize.text(bytes) + ", and as much again while it is written; found "
                            + ByteSize.text(free) + " free in " + folder(path) + "; free disk space");
        }
    }

    /** Appends a row; rows of one image follow each other. */
    void add(Sample sample, float[] descriptor) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asFloatBuffer().put(descriptor);
        try {
            while (bytes.hasRemaining()) {
                scratch.write(bytes);
            }
        } catch (IOException full) {
            throw AtomicFile.failure(path, full);
        }
        boolean next = rows.isEmpty() || !rows.getLast().equals(sample);
        crops.add(next ? 0 : crops.getLast() + 1);
        rows.add(sample);
    }

    int count() {
        return rows.size();
    }

    /**
     * Writes the file.
     *
     * @param numbered whether tables have a column with the number of the crop
     */
    void write(List<String> classes, boolean numbered, Map<String, String> unreadable, Map<String, String> metadata)
            throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment values = scratch.map(FileChannel.MapMode.READ_ONLY, 0, scratch.size(), arena);
            switch (format) {
                case SAFETENSORS -> tensors(values, unreadable, metadata, arena);
                case CSV -> csv(columns(classes, numbered), values);
                case PARQUET ->
                    ParquetFile.write(path, columns(classes, numbered), "descriptor", length, values, metadata);
            }
        }
    }

    private void tensors(MemorySegment values, Map<String, String> unreadable, Map<String, String> about, Arena arena)
            throws IOException {
        List<String> names = new ArrayList<>();
        long[] images = new long[rows.size()];
        for (int row = 0; row < images.length; row++) {
            if (crops.get(row) == 0) {
                names.add(rows.get(row).name());
            }
            images[row] = names.size() - 1L;
        }
        Map<String, String> metadata = new LinkedHashMap<>(about);
        metadata.put("names", JsonText.of(names));
        metadata.put("unreadable", JsonText.of(unreadable));
        long[] labels = rows.stream().mapToLong(Sample::label).toArray();
        Map<String, StoredTensor> tensors = Map.of(
                "descriptors",
                new StoredTensor(DType.F32, Shape.of(rows.size(), length), values),
                "labels",
                new StoredTensor(DType.I64, Shape.of(labels.length), arena.allocateFrom(JAVA_LONG, labels)),
                "image",
                new StoredTensor(DType.I64, Shape.of(images.length), arena.allocateFrom(JAVA_LONG, images)));
        Safetensors.write(path, tensors, metadata);
    }

    private SequencedMap<String, List<String>> columns(List<String> classes, boolean numbered) {
        SequencedMap<String, List<String>> columns = new LinkedHashMap<>();
        columns.put("name", rows.stream().map(Sample::name).toList());
        columns.put("class", rows.stream().map(row -> classes.get(row.label())).toList());
        if (numbered) {
            columns.put("crop", crops.stream().map(String::valueOf).toList());
        }
        return columns;
    }

    /** Writes columns of text, and a column for each value of a descriptor. */
    private void csv(SequencedMap<String, List<String>> columns, MemorySegment values) throws IOException {
        AtomicFile.putText(path, text -> {
            CsvWriter writer = CsvWriter.builder()
                    .lineDelimiter(LineDelimiter.LF)
                    .bufferSize(0)
                    .build(text);
            List<String> header = new ArrayList<>(columns.keySet());
            IntStream.range(0, length).forEach(i -> header.add("d" + i));
            writer.writeRecord(header);
            for (int row = 0; row < rows.size(); row++) {
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

    @Override
    public void close() throws IOException {
        scratch.close();
    }
}
