package org.gramian.tensor.file;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.random.RandomGenerator;
import java.util.stream.LongStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;

/** Tensors and files that the tests of this package start from. */
final class SampleTensors {
    private static final List<DType> TYPES = List.of(DType.values());

    private SampleTensors() {}

    /** Seeds of a property test; the test's display name shows the one that failed. */
    static LongStream seeds() {
        return LongStream.range(0, 50);
    }

    /** A tensor of random bytes; the rank is 0 to 4, and about every fifth has no elements. */
    static StoredTensor tensor(DType type, RandomGenerator random) {
        Shape shape = Shape.of(random.longs(random.nextInt(5), 1, 6)
                .map(n -> random.nextInt(12) == 0 ? 0 : n)
                .toArray());
        return tensor(type, shape, random);
    }

    static StoredTensor tensor(DType type, Shape shape, RandomGenerator random) {
        byte[] bytes = new byte[Math.toIntExact(shape.elements() * type.bytes())];
        random.nextBytes(bytes);
        return new StoredTensor(type, shape, MemorySegment.ofArray(bytes));
    }

    /** Several tensors of every type, under nasty names, in random order. */
    static SequencedMap<String, StoredTensor> tensors(RandomGenerator random) {
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        String[] names = {"", "a/b.weight", "\"quoted\\\"", "line\nbreak\u0001", "größe", "\uFFFD", "\uD83D\uDE00"};
        for (int i = random.nextInt(20); i >= 0; i--) {
            DType type = TYPES.get(random.nextInt(TYPES.size()));
            tensors.put(names[random.nextInt(names.length)] + random.nextInt(30), tensor(type, random));
        }
        return tensors;
    }

    static Map<String, String> metadata(RandomGenerator random) {
        Map<String, String> metadata = new LinkedHashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            metadata.put("key " + random.nextInt(), "{\"text\": \"\\ \n ü \uD83D\uDE00\"} " + random.nextInt());
        }
        return metadata;
    }

    /** A safetensors file of any header and so many bytes of data. */
    static byte[] safetensors(String header, int dataBytes) {
        return safetensors(header.getBytes(StandardCharsets.UTF_8), dataBytes);
    }

    static byte[] safetensors(byte[] header, int dataBytes) {
        return ByteBuffer.allocate(Long.BYTES + header.length + dataBytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(header.length)
                .put(header)
                .array();
    }
}
