package org.gramian.backbone.onnx;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.gramian.basis.Protobuf.Message;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;

/**
 * {@code TensorProto} of an ONNX file: elements in {@code raw_data}, in a typed field or in an external file.
 *
 * @param data elements, little-endian without gaps; none for a weight in the definition of a network
 */
record TensorProto(String name, Type type, Shape shape, MemorySegment data) {
    private static final int MAX_RANK = 8;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(LITTLE_ENDIAN);

    /** Element types with their codes in ONNX, in the order of the codes. */
    enum Type {
        FLOAT(1, 4),
        UINT8(2, 1),
        INT8(3, 1),
        INT32(6, 4),
        INT64(7, 8),
        BOOL(9, 1),
        FLOAT16(10, 2),
        DOUBLE(11, 8),
        BFLOAT16(16, 2);

        private final int code;
        private final int bytes;

        Type(int code, int bytes) {
            this.code = code;
            this.bytes = bytes;
        }

        static Type of(long code) {
            for (Type type : values()) {
                if (type.code == code) {
                    return type;
                }
            }
            throw new IllegalArgumentException(
                    "expected elements of type float, double, float16, bfloat16, int64, int32,"
                            + " int8, uint8 or bool, found the ONNX type " + code + "; export the network in float32");
        }

        int code() {
            return code;
        }

        boolean isFloating() {
            return TensorProto.isFloating(code);
        }
    }

    static boolean isFloating(long code) {
        return code == 1 || code == 10 || code == 11 || code == 16;
    }

    /**
     * File of a tensor.
     *
     * @param path the ONNX file; empty for the definition of a network
     */
    record Source(Path path, Arena arena, Map<Path, MemorySegment> loaded) {
        /** Returns whether weights have no elements and no external files are read. */
        boolean definition() {
            return path.toString().isEmpty();
        }
    }

    /** Reads a tensor; external data is looked up beside the file. */
    static TensorProto read(Message message, Source source) throws TensorFileException {
        if (message.has(3)) {
            throw new IllegalArgumentException("a tensor is stored in segments, which are not supported");
        }
        String name = message.text(8);
        Type type = Type.of(message.integer(2, Type.FLOAT.code));
        try {
            Shape shape = Shape.of(message.integers(1, MAX_RANK));
            MemorySegment raw = message.joined(9);
            MemorySegment data = message.integer(14, 0) == 1
                    ? external(message, source)
                    : raw.byteSize() > 0 ? raw : typed(type, message);
            boolean omitted = source.definition() && data.byteSize() == 0 && type == Type.FLOAT;
            boolean fits = shape.elements() <= Long.MAX_VALUE / 8 && data.byteSize() == shape.elements() * type.bytes;
            if (!fits && !omitted) {
                throw new IllegalArgumentException("expected " + shape.elements() + " elements of " + type.bytes
                        + " bytes for the shape " + shape + ", found " + data.byteSize() + " bytes");
            }
            return new TensorProto(name, type, shape, data);
        } catch (IllegalArgumentException problem) {
            throw new IllegalArgumentException(
                    "tensor " + QuotedText.text(name) + ": " + problem.getMessage(), problem);
        }
    }

    /** Encodes the elements of typed fields; float16 and bfloat16 are bits in {@code int32_data}. */
    private static MemorySegment typed(Type type, Message message) {
        if (type == Type.FLOAT || type == Type.DOUBLE) {
            return message.joined(type == Type.FLOAT ? 4 : 10);
        }
        long[] integers = message.integers(type == Type.INT64 ? 7 : 5, HostTensor.MAX_ELEMENTS);
        MemorySegment data = MemorySegment.ofArray(new byte[integers.length * type.bytes]);
        for (int i = 0; i < integers.length; i++) {
            switch (type.bytes) {
                case 1 -> data.set(ValueLayout.JAVA_BYTE, i, (byte) integers[i]);
                case 2 -> data.set(SHORT, 2L * i, (short) integers[i]);
                case 4 -> data.set(INT, 4L * i, (int) integers[i]);
                default -> data.set(LONG, 8L * i, integers[i]);
            }
        }
        return data;
    }

    /** Loads a part of an external file, which must lie in the folder of the ONNX file. */
    private static MemorySegment external(Message message, Source source) throws TensorFileException {
        Map<String, String> location = new HashMap<>();
        message.messages(13).forEach(entry -> location.put(entry.text(1), entry.text(2)));
        String name = location.getOrDefault("location", "");
        if (source.definition()) {
            throw new IllegalArgumentException("expected no external data in the definition of a network");
        }
        Path folder =
                Objects.requireNonNull(source.path.toAbsolutePath().normalize().getParent());
        Path path;
        try {
            Path relative = Path.of(name);
            path = folder.resolve(relative).normalize();
            if (name.isEmpty() || relative.isAbsolute() || !path.startsWith(folder) || path.equals(folder)) {
                throw new IllegalArgumentException(
                        "expected external data in the folder of the file, found the location "
                                + QuotedText.text(name));
            }
        } catch (InvalidPathException invalid) {
            throw new IllegalArgumentException(
                    "expected a file name for external data, found " + QuotedText.text(name));
        }
        MemorySegment data = source.loaded.get(path);
        if (data == null) {
            data = load(path, folder, source.arena);
            source.loaded.put(path, data);
        }
        long offset = number(location, "offset", 0);
        long length = number(location, "length", data.byteSize() - offset);
        if (offset < 0 || length < 0 || offset > data.byteSize() || length > data.byteSize() - offset) {
            throw new IllegalArgumentException("expected external data within the " + data.byteSize() + " bytes of "
                    + QuotedText.text(name) + ", found " + length + " bytes from " + offset);
        }
        return data.asSlice(offset, length);
    }

    private static MemorySegment load(Path path, Path folder, Arena arena) throws TensorFileException {
        try (InputFile data = InputFile.open(path)) {
            if (!path.toRealPath().startsWith(folder.toRealPath())) {
                throw new IllegalArgumentException("expected external data in the folder of the file, found a link that"
                        + " leaves it: " + QuotedText.text(path.getFileName().toString()));
            }
            return data.load(0, arena);
        } catch (TensorFileException e) {
            throw e;
        } catch (IOException e) {
            throw new TensorFileException(path, "could not be read: " + e.getMessage(), e);
        }
    }

    private static long number(Map<String, String> location, String key, long defaultValue) {
        String text = location.get(key);
        try {
            return text == null ? defaultValue : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "expected a number as " + key + " of external data, found " + QuotedText.text(text));
        }
    }

    HostTensor constant() {
        if (shape.elements() > HostTensor.MAX_ELEMENTS) {
            throw new IllegalArgumentException("tensor " + QuotedText.text(name) + ": expected at most "
                    + HostTensor.MAX_ELEMENTS + " integers, found " + shape.elements());
        }
        double[] values = new double[(int) shape.elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = at(i);
        }
        return new HostTensor(!type.isFloating(), shape, values);
    }

    /** Returns the tensor in float32, a view of the file where it has that type. */
    StoredTensor weight(Arena arena) {
        if (type == Type.FLOAT) {
            return new StoredTensor(DType.F32, shape, data);
        }
        MemorySegment converted = arena.allocate(shape.elements() * Float.BYTES, Float.BYTES);
        for (long i = 0; i < shape.elements(); i++) {
            converted.set(FLOAT, 4 * i, (float) at(i));
        }
        return new StoredTensor(DType.F32, shape, converted.asReadOnly());
    }

    private double at(long i) {
        return switch (type) {
            case FLOAT -> data.get(FLOAT, 4 * i);
            case DOUBLE -> data.get(DOUBLE, 8 * i);
            case FLOAT16 -> Float.float16ToFloat(data.get(SHORT, 2 * i));
            case BFLOAT16 -> Float.intBitsToFloat(data.get(SHORT, 2 * i) << 16);
            case INT64 -> data.get(LONG, 8 * i);
            case INT32 -> data.get(INT, 4 * i);
            case INT8 -> data.get(ValueLayout.JAVA_BYTE, i);
            case UINT8, BOOL -> Byte.toUnsignedInt(data.get(ValueLayout.JAVA_BYTE, i));
        };
    }
}
