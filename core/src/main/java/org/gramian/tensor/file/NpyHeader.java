package org.gramian.tensor.file;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;

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
                    .orElseThrow(
                            () -> fault("one of the types " + NpyHeader.descriptions(), QuotedText.text(description)));
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

        /**
         * Text in single or double quotes; a backslash, which would begin an escape, is in none of the words wanted.
         */
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
                    file, "the header, at character %d: expected %s, found %s".formatted(position, expected, found));
        }
    }
}
