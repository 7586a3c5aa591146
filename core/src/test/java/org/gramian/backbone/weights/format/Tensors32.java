package org.gramian.backbone.weights.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.random.RandomGenerator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/** Tensors of single precision to write and to compare, bit for bit. */
public final class Tensors32 {
    private Tensors32() {}

    public static StoredTensor random(RandomGenerator random, Shape shape) {
        float[] values = new float[Math.toIntExact(shape.elements())];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return of(shape, values);
    }

    public static StoredTensor of(Shape shape, float... values) {
        byte[] bytes = new byte[values.length * Float.BYTES];
        MemorySegment segment = MemorySegment.ofArray(bytes);
        MemorySegment.copy(MemorySegment.ofArray(values), 0, segment, 0, bytes.length);
        return new StoredTensor(DType.F32, shape, segment);
    }

    public static SequencedMap<String, StoredTensor> random(RandomGenerator random, Map<String, Shape> shapes) {
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        shapes.forEach((name, shape) -> tensors.put(name, random(random, shape)));
        return tensors;
    }

    public static StoredTensor get(Map<String, StoredTensor> tensors, String name) {
        return Objects.requireNonNull(tensors.get(name), name);
    }

    public static void assertSame(StoredTensor found, StoredTensor expected, String name) {
        assertThat(found.type()).as(name).isEqualTo(expected.type());
        assertThat(found.shape()).as(name).isEqualTo(expected.shape());
        assertThat(found.data().mismatch(expected.data())).as(name).isEqualTo(-1);
    }

    public static void assertSame(Map<String, StoredTensor> found, Map<String, StoredTensor> expected) {
        assertThat(found.keySet()).containsExactlyInAnyOrderElementsOf(expected.keySet());
        expected.forEach((name, tensor) -> assertSame(get(found, name), tensor, name));
    }
}
