package org.gramian.cli.predict;

import org.gramian.cli.common.Columns;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.gramian.basis.AtomicTextFile;
import org.gramian.export.ParquetFile;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Npy;
import org.gramian.tensor.file.StoredTensor;
import org.jspecify.annotations.Nullable;

/** File formats of {@code gramian embed}. */
enum EmbedFormat {
    /** Tensors with names and classes in the metadata. */
    SAFETENSORS,
    /** A NumPy array, with names and classes in a CSV file beside it. */
    NPY,
    /** A row per descriptor: name, class, values. */
    CSV,
    /** Columns name, class and descriptor, a list of floats. */
    PARQUET;

    private static final ValueLayout.OfFloat VALUE =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The format that is named, else that of the file's ending. */
    static EmbedFormat of(@Nullable EmbedFormat named, Path out) {
        if (named != null) {
            return named;
        }
        String name = out.toString().toLowerCase(Locale.ROOT);
        return Arrays.stream(values())
                .filter(format -> name.endsWith(format.ending()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("OUT: expected a file that ends with "
                        + Arrays.stream(values()).map(EmbedFormat::ending).collect(Collectors.joining(", "))
                        + ", or --format, found " + out));
    }

    private String ending() {
        return "." + name().toLowerCase(Locale.ROOT);
    }

    /** About how many bytes a value of 4 bytes takes. */
    int bytesPerValue() {
        return this == CSV ? 13 : Float.BYTES;
    }

    /** The file of names beside a {@code .npy} file: {@code out.names.csv} for {@code out.npy}. */
    static Path sidecar(Path out) {
        return out.resolveSibling(String.valueOf(out.getFileName()).replaceFirst("(?i)\\.npy$", "") + ".names.csv");
    }

    /**
     * Descriptors in rows.
     *
     * @param about columns of text, by name
     * @param length of a descriptor
     * @param values {@code [rows, length]}, little-endian float32
     * @param metadata of the file
     */
    record Table(
            SequencedMap<String, List<String>> about, int length, MemorySegment values, Map<String, String> metadata) {
        Table {
            about = new LinkedHashMap<>(about);
        }

        private int rows() {
            return about.firstEntry().getValue().size();
        }

        void npy(Path out) throws IOException {
            Npy.write(out, new StoredTensor(DType.F32, Shape.of(rows(), length), values));
            csv(sidecar(out), 0);
        }

        void csv(Path out) throws IOException {
            csv(out, length);
        }

        void parquet(Path out) throws IOException {
            ParquetFile.write(out, about, "descriptor", length, values, metadata);
        }

        private void csv(Path out, int columns) throws IOException {
            AtomicTextFile.write(out, text -> {
                CsvWriter writer = CsvWriter.builder()
                        .lineDelimiter(LineDelimiter.LF)
                        .bufferSize(0)
                        .build(text);
                List<String> header = new ArrayList<>(about.keySet());
                for (int i = 0; i < columns; i++) {
                    header.add("d" + i);
                }
                writer.writeRecord(header);
                for (int row = 0; row < rows(); row++) {
                    List<String> cells = new ArrayList<>(header.size());
                    for (List<String> column : about.values()) {
                        cells.add(column.get(row));
                    }
                    for (int i = 0; i < columns; i++) {
                        cells.add(Float.toString(values.get(VALUE, ((long) row * length + i) * Float.BYTES)));
                    }
                    writer.writeRecord(cells);
                }
            });
        }
    }
}
