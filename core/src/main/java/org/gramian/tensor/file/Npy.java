package org.gramian.tensor.file;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

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
            return parsed.fortranOrder() && parsed.shape().rank() > 1
                    ? rowMajor(file, dataStart, parsed, arena)
                    : new StoredTensor(parsed.type(), parsed.shape(), file.load(dataStart, arena, _ -> {}));
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
        OutputFile.write(path, start, List.of(tensor));
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

    private static StoredTensor rowMajor(InputFile file, long dataStart, NpyHeader header, Arena arena)
            throws TensorFileException {
        int width = header.type().bytes();
        MemorySegment copy = arena.allocate(header.dataBytes(), width);
        try (Arena mapping = Arena.ofConfined()) {
            MemorySegment source = file.map(dataStart, mapping);
            FortranOrder order = new FortranOrder(header.shape());
            for (long to = 0; to < copy.byteSize(); to += width) {
                MemorySegment.copy(source, order.next() * width, copy, to, width);
            }
        }
        return new StoredTensor(header.type(), header.shape(), copy.asReadOnly());
    }

    private static String hex(byte[] bytes) {
        return HexFormat.ofDelimiter(" ").formatHex(bytes);
    }

    /** Iterates over an array in row-major order and yields the column-major offset of each element. */
    private static final class FortranOrder {
        private final long[] sizes;
        private final long[] index;
        private final long[] strides;
        private long position;

        FortranOrder(Shape shape) {
            sizes = shape.sizes();
            index = new long[sizes.length];
            strides = new long[sizes.length];
            long stride = 1;
            for (int i = 0; i < sizes.length; i++) {
                strides[i] = stride;
                stride *= sizes[i];
            }
        }

        long next() {
            long here = position;
            for (int i = sizes.length - 1; i >= 0; i--) {
                position += strides[i];
                if (++index[i] < sizes[i]) {
                    break;
                }
                position -= strides[i] * sizes[i];
                index[i] = 0;
            }
            return here;
        }
    }

    /** Header of an {@code .npy} file: the Python dictionary at its start. */
    record NpyHeader(DType type, boolean fortranOrder, Shape shape) {
        private static final Map<DType, String> DESCRIPTIONS = Map.of(
                DType.F64, "<f8",
                DType.F32, "<f4",
                DType.F16, "<f2",
                DType.I64, "<i8",
                DType.I32, "<i4",
                DType.U8, "|u1",
                DType.BOOL, "|b1");

        /**
         * Parses the header of an {@code .npy} file.
         *
         * @param file the file, for messages
         * @param text the Python dictionary at its start
         */
        static NpyHeader parse(Path file, String text) throws TensorFileException {
            return new Parser(file, text).header();
        }

        /** Returns the type for numpy's description, such as {@code <f8}. */
        static Optional<DType> typeOf(String description) {
            return DESCRIPTIONS.entrySet().stream()
                    .filter(entry -> entry.getValue().equals(description))
                    .map(Map.Entry::getKey)
                    .findFirst();
        }

        /** Returns all supported descriptions, for messages. */
        static String descriptions() {
            return DESCRIPTIONS.values().stream().sorted().collect(Collectors.joining(", "));
        }

        long dataBytes() {
            return StoredTensor.bytes(type, shape);
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

        /**
         * Reads the Python dictionary of an {@code .npy} header, and no more of Python than that:
         *
         * <pre>
         * header = '{' pair (',' pair)* [','] '}'
         * pair   = 'descr' ':' quoted | 'fortran_order' ':' ('True' | 'False') | 'shape' ':' tuple     each once, quoted
         * tuple  = '(' ')' | '(' number ',' ')' | '(' number (',' number)+ [','] ')'
         * </pre>
         *
         * Spaces may stand between any two of these, and newlines at the end.
         */
        private static final class Parser {
            private final Path file;
            private final String text;
            private int position;

            private Parser(Path file, String text) {
                this.file = file;
                this.text = text;
            }

            private NpyHeader header() throws TensorFileException {
                @Nullable DType type = null;
                @Nullable Boolean fortranOrder = null;
                @Nullable Shape shape = null;
                expect('{');
                while (!accept('}')) {
                    String key = quoted("a key: 'descr', 'fortran_order' or 'shape'");
                    expect(':');
                    switch (key) {
                        case "descr" -> {
                            once(type, key);
                            type = type();
                        }
                        case "fortran_order" -> {
                            once(fortranOrder, key);
                            fortranOrder = truth();
                        }
                        case "shape" -> {
                            once(shape, key);
                            shape = shape();
                        }
                        default -> throw fault("the keys 'descr', 'fortran_order' and 'shape'", QuotedText.text(key));
                    }
                    if (!accept(',')) {
                        expect('}');
                        break;
                    }
                }
                if (!text.substring(position).matches("[ \n]*")) {
                    throw fault("only spaces and a newline after '}'", rest());
                }
                if (type == null || fortranOrder == null || shape == null) {
                    String missing = type == null ? "descr" : fortranOrder == null ? "fortran_order" : "shape";
                    throw fault("the keys 'descr', 'fortran_order' and 'shape'", "no '" + missing + "'");
                }
                return checked(type, fortranOrder, shape);
            }

            private NpyHeader checked(DType type, boolean fortranOrder, Shape shape) throws TensorFileException {
                try {
                    StoredTensor.bytes(type, shape);
                    return new NpyHeader(type, fortranOrder, shape);
                } catch (IllegalArgumentException e) {
                    throw new TensorFileException(file, "the header: " + e.getMessage(), e);
                }
            }

            private DType type() throws TensorFileException {
                String description = quoted("the type as quoted text, such as '<f4' (records are not supported)");
                if (description.startsWith(">")) {
                    throw fault(
                            "a little-endian type",
                            "the big-endian " + QuotedText.text(description)
                                    + "; in Python, array.astype(array.dtype.newbyteorder('<')) converts it");
                }
                return NpyHeader.typeOf(description)
                        .orElseThrow(() ->
                                fault("one of the types " + NpyHeader.descriptions(), QuotedText.text(description)));
            }

            private boolean truth() throws TensorFileException {
                skipSpaces();
                for (String word : new String[] {"True", "False"}) {
                    if (text.startsWith(word, position)) {
                        position += word.length();
                        return word.equals("True");
                    }
                }
                throw fault("True or False as 'fortran_order'", rest());
            }

            private Shape shape() throws TensorFileException {
                expect('(');
                long[] sizes = new long[StoredTensor.MAX_RANK];
                int count = 0;
                boolean comma = true;
                while (!accept(')')) {
                    if (!comma) {
                        throw fault("',' or ')' in 'shape'", rest());
                    }
                    if (count == sizes.length) {
                        throw fault("at most " + sizes.length + " dimensions", "more");
                    }
                    sizes[count++] = number();
                    comma = accept(',');
                }
                if (count == 1 && !comma) {
                    throw fault("a tuple as 'shape'", "a number in parentheses");
                }
                try {
                    return Shape.of(Arrays.copyOf(sizes, count));
                } catch (IllegalArgumentException e) {
                    throw new TensorFileException(file, "the header: " + e.getMessage(), e);
                }
            }

            private long number() throws TensorFileException {
                skipSpaces();
                int end = position;
                while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
                    end++;
                }
                try {
                    long number = Long.parseLong(text, position, end, 10);
                    position = end;
                    return number;
                } catch (NumberFormatException e) {
                    throw fault("whole numbers from 0 to 2^63-1 in 'shape'", rest());
                }
            }

            /** Text in single or double quotes; a backslash, which would begin an escape, is in none of the words wanted. */
            private String quoted(String what) throws TensorFileException {
                skipSpaces();
                char quote = position < text.length() ? text.charAt(position) : ' ';
                int end = quote == '\'' || quote == '"' ? text.indexOf(quote, position + 1) : -1;
                if (end < 0) {
                    throw fault(what, rest());
                }
                String content = text.substring(position + 1, end);
                position = end + 1;
                return content;
            }

            private void expect(char wanted) throws TensorFileException {
                if (!accept(wanted)) {
                    throw fault("'" + wanted + "'", rest());
                }
            }

            private boolean accept(char wanted) {
                skipSpaces();
                boolean there = position < text.length() && text.charAt(position) == wanted;
                position += there ? 1 : 0;
                return there;
            }

            private void skipSpaces() {
                while (position < text.length() && text.charAt(position) == ' ') {
                    position++;
                }
            }

            private void once(@Nullable Object before, String key) throws TensorFileException {
                if (before != null) {
                    throw fault("every key once", QuotedText.text(key) + " twice");
                }
            }

            private String rest() {
                return position < text.length() ? QuotedText.text(text.substring(position)) : "the end of the header";
            }

            private TensorFileException fault(String expected, String found) {
                return new TensorFileException(
                        file,
                        "the header, at character %d: expected %s, found %s".formatted(position, expected, found));
            }
        }
    }
}
