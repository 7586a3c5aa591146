package org.gramian.tensor.file;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;

/**
 * Reads and writes {@code .npy} files: one array, as numpy's {@code np.save} writes it.
 *
 * <pre>
 * bytes 0 … 5     0x93 'N' 'U' 'M' 'P' 'Y'
 * bytes 6, 7      version: 1.0, 2.0 or 3.0
 * then            n, the length of the header: unsigned, little-endian, 2 bytes in 1.0, 4 bytes after; at most 65,535
 * then n bytes    the header: a Python dictionary, padded with spaces, ended by a newline
 *                 {'descr': '&lt;f8', 'fortran_order': False, 'shape': (3, 4), }
 * to the end      the elements
 * </pre>
 *
 * <p>Types are {@code <f8}, {@code <f4}, {@code <f2}, {@code <i8}, {@code <i4}, {@code |u1} and {@code |b1}; numpy has no bfloat16.
 *
 * @see <a href="https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html">the format</a>
 */
public final class Npy {
    /** Limit of version 1.0. */
    private static final int MAX_HEADER_BYTES = 0xffff;

    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final int VERSION_END = MAGIC.length + 2;
    private static final int ALIGNMENT = 64;

    private Npy() {}

    /**
     * Reads an array into memory that lives as long as the arena; one in Fortran order is turned into row-major order.
     *
     * @throws TensorFileException if the file cannot be read or is not a correct {@code .npy} file of a supported type
     */
    public static StoredTensor read(Path path, Arena arena) throws TensorFileException {
        try (InputFile file = InputFile.open(path)) {
            int lengthBytes = majorVersion(file) == 1 ? Short.BYTES : Integer.BYTES;
            int headerStart = VERSION_END + lengthBytes;
            int length = headerLength(file, lengthBytes);
            byte[] header = file.read(headerStart, length, "the header").array();
            // version 3.0 is UTF-8, but only for names of fields, which are not supported
            NpyHeader parsed = NpyHeader.parse(path, new String(header, StandardCharsets.ISO_8859_1));
            long dataStart = headerStart + (long) length;
            long found = file.size() - dataStart;
            if (found != parsed.dataBytes()) {
                String fault = found < parsed.dataBytes() ? "is truncated" : "has trailing bytes";
                throw new TensorFileException(
                        path,
                        "%s: %s of shape %s takes %d bytes of data, found %d"
                                .formatted(fault, parsed.type(), parsed.shape(), parsed.dataBytes(), found));
            }
            return parsed.layout().take(parsed.type(), file.load(dataStart, arena), arena);
        }
    }

    /**
     * Writes a file of version 1.0, or replaces it, in one atomic step; the same tensor gives the same bytes.
     *
     * @throws TensorFileException if the file cannot be written
     * @throws IllegalArgumentException if the tensor is of a type that numpy does not have
     */
    public static void write(Path path, StoredTensor tensor) throws TensorFileException {
        String header = new NpyHeader(tensor.type(), false, tensor.shape()).text();
        int unpadded = VERSION_END + Short.BYTES + header.length() + 1;
        String padded = header + " ".repeat(Math.floorMod(-unpadded, ALIGNMENT)) + "\n";
        byte[] start = ByteBuffer.allocate(VERSION_END + Short.BYTES + padded.length())
                .put(MAGIC)
                .put(new byte[] {1, 0, (byte) padded.length(), (byte) (padded.length() >> 8)})
                .put(padded.getBytes(StandardCharsets.US_ASCII))
                .array();
        StoredTensor.write(path, start, List.of(tensor));
    }

    private static int majorVersion(InputFile file) throws TensorFileException {
        byte[] start = file.read(0, VERSION_END, "\\x93NUMPY and a version").array();
        if (!Arrays.equals(start, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
            throw new TensorFileException(
                    file.path(),
                    "expected an .npy file, which begins with bytes %s, found %s"
                            .formatted(hex(MAGIC), hex(Arrays.copyOf(start, MAGIC.length))));
        }
        int major = Byte.toUnsignedInt(start[MAGIC.length]);
        int minor = Byte.toUnsignedInt(start[MAGIC.length + 1]);
        if (major < 1 || major > 3 || minor != 0) {
            throw new TensorFileException(
                    file.path(), "expected .npy version 1.0, 2.0 or 3.0, found %d.%d".formatted(major, minor));
        }
        return major;
    }

    private static int headerLength(InputFile file, int lengthBytes) throws TensorFileException {
        ByteBuffer bytes = file.read(VERSION_END, lengthBytes, "the header's length");
        long length = lengthBytes == Short.BYTES
                ? Short.toUnsignedInt(bytes.getShort())
                : Integer.toUnsignedLong(bytes.getInt());
        if (length > MAX_HEADER_BYTES) {
            throw new TensorFileException(
                    file.path(),
                    "expected a header of at most %d bytes, found a length of %d".formatted(MAX_HEADER_BYTES, length));
        }
        return (int) length;
    }

    private static String hex(byte[] bytes) {
        return HexFormat.ofDelimiter(" ").formatHex(bytes);
    }

    /** Header of an {@code .npy} file: the Python dictionary at its start. */
    private record NpyHeader(DType type, boolean fortranOrder, Shape shape) {
        private static final Map<DType, String> DESCRIPTIONS = Map.of(
                DType.F64, "<f8",
                DType.F32, "<f4",
                DType.F16, "<f2",
                DType.I64, "<i8",
                DType.I32, "<i4",
                DType.U8, "|u1",
                DType.BOOL, "|b1");

        /** One item of the dictionary with the comma after it; quoted text has no escapes. */
        private static final Pattern ITEM = Pattern.compile(
                " *(['\"])(?<key>\\w+)\\1 *: *(?<value>'[^']*'|\"[^\"]*\"|True|False|\\([0-9, ]*\\)) *(?:,|(?=}))");

        private static final Pattern END = Pattern.compile(" *}[ \n]*");

        /** Parses a header: no more of Python than a dictionary of text, truth values and tuples of whole numbers. */
        static NpyHeader parse(Path file, String text) throws TensorFileException {
            Map<String, String> items = new HashMap<>();
            Matcher item = ITEM.matcher(text);
            int position = text.startsWith("{") ? 1 : 0;
            while (position > 0 && item.region(position, text.length()).lookingAt()) {
                if (items.put(item.group("key"), item.group("value")) != null) {
                    throw fault(file, "every key once", item.group("key") + " twice");
                }
                position = item.end();
            }
            if (position == 0 || !END.matcher(text.substring(position)).matches()) {
                String rest = text.substring(position);
                throw fault(
                        file,
                        "a dictionary of 'descr', 'fortran_order' and 'shape'",
                        (rest.isEmpty() ? "its end" : QuotedText.text(rest)) + " at character " + position);
            }
            if (!items.keySet().equals(Set.of("descr", "fortran_order", "shape"))) {
                throw fault(file, "the keys 'descr', 'fortran_order' and 'shape'", QuotedText.text(items.toString()));
            }
            String order = items.getOrDefault("fortran_order", "");
            if (!order.equals("True") && !order.equals("False")) {
                throw fault(file, "True or False as 'fortran_order'", QuotedText.text(order));
            }
            try {
                Shape shape = shape(file, items.getOrDefault("shape", ""));
                DType type = type(file, items.getOrDefault("descr", ""));
                StoredTensor.bytes(type, shape);
                return new NpyHeader(type, order.equals("True"), shape);
            } catch (IllegalArgumentException e) {
                throw new TensorFileException(file, "the header: " + e.getMessage(), e);
            }
        }

        private static DType type(Path file, String quoted) throws TensorFileException {
            for (Map.Entry<DType, String> known : DESCRIPTIONS.entrySet()) {
                if (quoted.length() > 2
                        && quoted.substring(1, quoted.length() - 1).equals(known.getValue())) {
                    return known.getKey();
                }
            }
            String known = DESCRIPTIONS.values().stream().sorted().collect(Collectors.joining(", "));
            throw fault(file, "one of the types " + known + " as 'descr'", QuotedText.bare(quoted));
        }

        /** Parses {@code ()}, {@code (2,)} or {@code (2, 3)}. */
        private static Shape shape(Path file, String tuple) throws TensorFileException {
            String inner = tuple.startsWith("(")
                    ? tuple.substring(1, tuple.length() - 1).strip()
                    : tuple;
            if (inner.isEmpty()) {
                return Shape.of();
            }
            String[] parts = inner.split(",", StoredTensor.MAX_RANK + 2);
            int rank = parts[parts.length - 1].isBlank() ? parts.length - 1 : parts.length;
            if (parts.length == 1 || rank > StoredTensor.MAX_RANK) {
                throw fault(file, "a tuple of at most " + StoredTensor.MAX_RANK + " numbers as 'shape'", inner);
            }
            long[] sizes = new long[rank];
            for (int i = 0; i < rank; i++) {
                try {
                    sizes[i] = Long.parseLong(parts[i].strip());
                } catch (NumberFormatException e) {
                    throw fault(file, "whole numbers from 0 to 2^63-1 in 'shape'", parts[i]);
                }
            }
            return Shape.of(sizes);
        }

        private static TensorFileException fault(Path file, String expected, String found) {
            return new TensorFileException(
                    file, "the header: expected " + expected + ", found " + QuotedText.bare(found));
        }

        long dataBytes() {
            return StoredTensor.bytes(type, shape);
        }

        /** Returns the place of each element: in Fortran order the first index changes fastest. */
        TensorLayout layout() {
            List<Long> sizes = Arrays.stream(shape.sizes()).boxed().toList();
            List<Long> order = fortranOrder ? sizes : sizes.reversed();
            List<Long> strides = new ArrayList<>();
            long stride = 1;
            for (long size : order) {
                strides.add(stride);
                stride *= size;
            }
            return new TensorLayout(0, sizes, fortranOrder ? strides : strides.reversed());
        }

        /** Returns the header as numpy writes it; a tuple of one element keeps its comma. */
        String text() {
            String description = DESCRIPTIONS.get(type);
            if (description == null) {
                throw new IllegalArgumentException(
                        "an .npy file cannot hold " + type + "; convert it to F32, or write a .safetensors file");
            }
            String sizes = Arrays.stream(shape.sizes()).mapToObj(Long::toString).collect(Collectors.joining(", "));
            return "{'descr': '%s', 'fortran_order': %s, 'shape': (%s%s), }"
                    .formatted(description, fortranOrder ? "True" : "False", sizes, shape.rank() == 1 ? "," : "");
        }
    }
}
