package org.gramian.tensor.file;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;

/** What the dictionary at the start of an {@code .npy} file says. */
record NpyHeader(DType type, boolean fortranOrder, Shape shape) {
    private static final Map<DType, String> DESCRIPTIONS = Map.of(
            DType.F64, "<f8",
            DType.F32, "<f4",
            DType.F16, "<f2",
            DType.I64, "<i8",
            DType.I32, "<i4",
            DType.U8, "|u1",
            DType.BOOL, "|b1");

    /** The type of numpy's name for it, such as {@code <f8}. */
    static Optional<DType> typeOf(String description) {
        return DESCRIPTIONS.entrySet().stream()
                .filter(entry -> entry.getValue().equals(description))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** All of numpy's names that are supported, for messages. */
    static String descriptions() {
        return DESCRIPTIONS.values().stream().sorted().collect(Collectors.joining(", "));
    }

    long dataBytes() {
        return StoredTensor.bytes(type, shape);
    }

    /** As Python's {@code repr} and numpy print it; a tuple of one keeps its comma. */
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
