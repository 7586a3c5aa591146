package org.gramian.train.distill;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.train.Optimizer;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Checkpoint file of a distillation: parameters, the optimizer's state, averaged statistics and the {@link DistillProgress}. Order,
 * crops and mixup follow from the seed, so that a resumed run continues with the same bits.
 *
 * @param file it is written to
 * @param identity of everything that decides the course of training; a checkpoint of another identity is refused
 */
record DistillCheckpoint(Path file, String identity) {
    private static final String FORMAT = "gramian-distillation";
    private static final String VERSION = "1";
    private static final String AVERAGE = "average-statistics.";
    private static final JsonMapper MAPPER = JsonMapper.shared();

    /** Writes a checkpoint, whole or not at all. */
    void save(DistillProgress progress, Student student, Optimizer optimizer) throws IOException {
        try (Scope _ = Scope.open()) {
            SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
            student.parameters().forEach((name, parameter) -> {
                tensors.put("value." + name, StoredTensor.of(parameter.value()));
                optimizer
                        .state(parameter)
                        .forEach((what, state) -> tensors.put(what + "." + name, StoredTensor.of(state)));
                Tensor average = student.averages().get(parameter);
                if (average != null) {
                    tensors.put(AVERAGE + name, StoredTensor.of(average));
                }
            });
            SequencedMap<String, String> metadata = new LinkedHashMap<>();
            metadata.put("format", FORMAT);
            metadata.put("version", VERSION);
            metadata.put("identity", identity);
            metadata.put("optimizer-steps", Long.toString(optimizer.steps()));
            metadata.put("position", MAPPER.writeValueAsString(progress));
            Safetensors.write(file, tensors, metadata);
        }
    }

    /**
     * Restores the state if there is a checkpoint.
     *
     * @return its progress; empty without a checkpoint
     * @throws IOException if it is damaged, or of a run with other options, teachers or images
     */
    Optional<DistillProgress> restore(Student student, Optimizer optimizer, Device device) throws IOException {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try (Arena arena = Arena.ofShared()) {
            TensorFile stored = Safetensors.read(file, arena);
            Map<String, String> metadata = stored.metadata();
            if (!FORMAT.equals(metadata.get("format")) || !VERSION.equals(metadata.get("version"))) {
                throw new TensorFileException(
                        file, "expected a checkpoint of a distillation, found something else; choose another --out");
            }
            if (!identity.equals(metadata.get("identity"))) {
                throw new TensorFileException(
                        file,
                        "it belongs to a distillation with other options, teachers or images;"
                                + " repeat the original command, or choose another --out");
            }
            DistillProgress progress = MAPPER.readValue(metadata.getOrDefault("position", ""), DistillProgress.class);
            for (Map.Entry<String, Parameter> entry : student.parameters().entrySet()) {
                restore(entry.getKey(), entry.getValue(), stored, student, optimizer, device);
            }
            optimizer.setSteps(Long.parseUnsignedLong(metadata.getOrDefault("optimizer-steps", "")));
            return Optional.of(progress);
        } catch (JacksonException | NumberFormatException damaged) {
            throw new TensorFileException(file, "its position is damaged; choose another --out");
        }
    }

    private void restore(
            String name, Parameter parameter, TensorFile stored, Student student, Optimizer optimizer, Device device)
            throws IOException {
        parameter.set(owned(stored, "value." + name, parameter.spec().shape(), device));
        Tensor average = student.averages().get(parameter);
        if (average != null) {
            try (Tensor value = owned(stored, AVERAGE + name, parameter.spec().shape(), device)) {
                average.copyFrom(value);
            }
        }
        for (Map.Entry<String, Shape> state : optimizer.stateShapes(parameter).entrySet()) {
            String key = state.getKey() + "." + name;
            if (stored.tensors().containsKey(key)) {
                optimizer.setState(parameter, state.getKey(), owned(stored, key, state.getValue(), device));
            }
        }
    }

    private Tensor owned(TensorFile stored, String name, Shape shape, Device device) throws IOException {
        StoredTensor found = stored.tensors().get(name);
        if (found == null || !found.shape().equals(shape)) {
            throw new TensorFileException(
                    file,
                    "expected " + name + " of " + shape + ", found " + (found == null ? "none" : found.shape())
                            + "; choose another --out");
        }
        try (Scope scope = Scope.open()) {
            Tensor there = found.toTensor().to(device);
            scope.release(there);
            return there;
        }
    }

    /** Removes the checkpoint, once the weights are written. */
    void remove() throws IOException {
        Files.deleteIfExists(file);
    }
}
