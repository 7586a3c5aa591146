package org.gramian.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.basis.NameList;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/** Judges whether stored tensors are those of a model: all of them, no other, of their shapes, finite. */
final class ModelTensors {
    private static final ValueLayout.OfFloat NUMBER =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final String DAMAGED = "; the file contradicts its own metadata: train the model again";

    private ModelTensors() {}

    /** @throws IllegalArgumentException unless these are the tensors that the header implies */
    static void requireAll(ModelHeader header, Map<String, StoredTensor> tensors) {
        requireClasses(header, tensors);
        Map<String, ParameterSpec> wanted = header.parameters();
        List<String> missing = wanted.keySet().stream()
                .filter(name -> !tensors.containsKey(name))
                .toList();
        List<String> extra = tensors.keySet().stream()
                .filter(name -> !wanted.containsKey(name))
                .toList();
        if (!missing.isEmpty() || !extra.isEmpty()) {
            List<String> faults = new ArrayList<>();
            if (!missing.isEmpty()) {
                faults.add("without " + quoted(missing));
            }
            if (!extra.isEmpty()) {
                faults.add("with " + quoted(extra) + " in addition");
            }
            throw new IllegalArgumentException("expected the " + wanted.size() + " tensors of " + header.backbone()
                    + " with the pooling " + header.head().pooling() + ", found " + tensors.size() + ", "
                    + String.join(" and ", faults) + DAMAGED);
        }
        wanted.forEach((name, spec) -> requireShape(name, spec.shape(), get(tensors, name)));
    }

    /** Said apart, for this is what a header changed by hand is most likely to get wrong. */
    private static void requireClasses(ModelHeader header, Map<String, StoredTensor> tensors) {
        StoredTensor bias = tensors.get(ModelHeader.HEAD + ".classifier.bias");
        int names = header.card().classes().size();
        if (bias != null && bias.shape().rank() == 1 && bias.shape().at(0) != names) {
            throw new IllegalArgumentException("expected a name for each of the "
                    + bias.shape().at(0) + " classes of the classifier, found " + names + " names" + DAMAGED);
        }
    }

    private static void requireShape(String name, Shape shape, StoredTensor found) {
        if (found.type() != DType.F32 || !found.shape().equals(shape)) {
            throw new IllegalArgumentException("expected " + QuotedText.text(name) + " to be " + DType.F32 + shape
                    + ", found " + found.type() + found.shape() + DAMAGED);
        }
    }

    /** @throws IllegalArgumentException if a tensor holds a number that is infinite or none */
    static void requireFinite(Map<String, StoredTensor> tensors) {
        tensors.forEach((name, tensor) -> {
            MemorySegment data = tensor.data();
            for (long at = 0; at < data.byteSize(); at += Float.BYTES) {
                if (!Float.isFinite(data.get(NUMBER, at))) {
                    throw new IllegalArgumentException("expected finite numbers in " + QuotedText.text(name)
                            + ", found " + data.get(NUMBER, at) + " at index " + at / Float.BYTES);
                }
            }
        });
    }

    static StoredTensor get(Map<String, StoredTensor> tensors, String name) {
        StoredTensor tensor = tensors.get(name);
        if (tensor == null) {
            throw new IllegalArgumentException("missing tensor " + QuotedText.text(name));
        }
        return tensor;
    }

    private static String quoted(List<String> names) {
        return NameList.some(names.stream().map(QuotedText::text).toList());
    }
}
