package org.gramian.train.distill;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.autodiff.Parameter;
import org.gramian.backbone.Backbone;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;

/** Weight file of a student: a safetensors file that {@code gramian weights import} and {@code --weights} read. */
final class StudentFile {
    private StudentFile() {}

    /**
     * Writes the present values of a student's backbone, batch norms unfolded.
     *
     * @param type F32, or F16 for half the size
     * @param about origin of the weights, for the metadata
     */
    static void write(Path file, Student student, DType type, Map<String, String> about) throws IOException {
        Backbone network = student.network();
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        SequencedMap<String, String> metadata = new LinkedHashMap<>();
        metadata.put("format", "pt"); // what other readers of safetensors look for
        metadata.put("architecture", network.name());
        metadata.put("input", network.preprocessing().text());
        metadata.putAll(about);
        try (Scope _ = Scope.open()) {
            for (Parameter parameter : student.backbone().all()) {
                tensors.put(parameter.name(), StoredTensor.of(parameter.value().to(type)));
            }
            Safetensors.write(file, tensors, metadata);
        }
    }
}
