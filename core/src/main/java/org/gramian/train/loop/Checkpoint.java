package org.gramian.train.loop;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.train.Optimizer;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The whole state of training as a safetensors file: values, the optimizer's state, the best so far, and the {@link TrainingProgress}.
 *
 * <p>Tensors are named {@code value.}, {@code best.} and by the optimizer's state, as {@code velocity.} or {@code first-moment.},
 * with the part and the name of a parameter behind it. Order and crops follow from the seed and the position, so no generator needs to be kept.
 *
 * @param file where it was read
 * @param position how far it had come
 * @param steps that the optimizer had taken
 * @param tensors copies on the processor, outside every scope
 */
record Checkpoint(Path file, TrainingProgress position, long steps, Map<String, Tensor> tensors)
        implements AutoCloseable {
    private static final String FORMAT = "gramian-checkpoint";
    private static final String VERSION = "3";
    private static final JsonMapper MAPPER = JsonMapper.shared();

    /** What is kept of a stage. */
    record State(TrainableModel trainee, Optimizer optimizer, Snapshot best) {}

    /** Writes, whole or not at all. */
    static void write(CheckpointPolicy keeper, TrainingProgress position, State state) throws IOException {
        try (Scope _ = Scope.open()) {
            SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
            state.trainee.parameters().forEach((name, parameter) -> {
                tensors.put("value." + name, StoredTensor.of(parameter.value()));
                state.optimizer
                        .state(parameter)
                        .forEach((what, tensor) -> tensors.put(what + "." + name, StoredTensor.of(tensor)));
            });
            state.best.values().forEach((name, value) -> tensors.put("best." + name, StoredTensor.of(value)));
            SequencedMap<String, String> metadata = new LinkedHashMap<>();
            metadata.put("format", FORMAT);
            metadata.put("version", VERSION);
            metadata.put("identity", keeper.identity());
            metadata.put("optimizer-steps", Long.toString(state.optimizer.steps()));
            metadata.put("position", MAPPER.writeValueAsString(position));
            Safetensors.write(keeper.file(), tensors, metadata);
        }
    }

    /**
     * Reads the checkpoint of a keeper.
     *
     * @throws IOException if it is damaged, or of a run with another configuration
     */
    static Checkpoint read(CheckpointPolicy keeper) throws IOException {
        try (Arena arena = Arena.ofShared();
                Scope scope = Scope.open()) {
            TensorFile file = Safetensors.read(keeper.file(), arena);
            if (!FORMAT.equals(file.metadata().get("format"))
                    || !VERSION.equals(file.metadata().get("version"))) {
                throw new TensorFileException(
                        file.path(),
                        "expected a checkpoint of version " + VERSION + ", found something else; start a new run");
            }
            if (!keeper.identity().equals(file.metadata().get("identity"))) {
                throw new TensorFileException(
                        file.path(),
                        "it belongs to a run with another configuration, dataset or program version;"
                                + " resume with the original ones, or start a new run in another folder");
            }
            TrainingProgress position =
                    MAPPER.readValue(file.metadata().getOrDefault("position", ""), TrainingProgress.class);
            long steps = Long.parseUnsignedLong(file.metadata().getOrDefault("optimizer-steps", ""));
            Map<String, Tensor> tensors = new LinkedHashMap<>();
            for (Map.Entry<String, StoredTensor> entry : file.tensors().entrySet()) {
                tensors.put(entry.getKey(), entry.getValue().toTensor());
            }
            tensors.values().forEach(scope::release); // only now: if one cannot be read, the scope frees the others
            return new Checkpoint(keeper.file(), position, steps, tensors);
        } catch (JacksonException | NumberFormatException damaged) {
            throw new TensorFileException(keeper.file(), "its position is damaged; start a new run");
        }
    }

    /**
     * Gives a stage the state it had.
     *
     * @throws IOException if something of it is missing
     */
    void restore(State state) throws IOException {
        Device device = state.trainee.model().device();
        for (Map.Entry<String, Parameter> entry : state.trainee.parameters().entrySet()) {
            String name = entry.getKey();
            Parameter parameter = entry.getValue();
            Shape shape = parameter.spec().shape();
            parameter.set(owned("value." + name, parameter, shape, device));
            state.best.put(name, owned("best." + name, parameter, shape, device));
            for (Map.Entry<String, Shape> kept :
                    state.optimizer.stateShapes(parameter).entrySet()) {
                String stored = kept.getKey() + "." + name;
                if (tensors.containsKey(stored)) {
                    state.optimizer.setState(
                            parameter, kept.getKey(), owned(stored, parameter, kept.getValue(), device));
                }
            }
        }
        state.optimizer.setSteps(steps);
    }

    private Tensor owned(String name, Parameter parameter, Shape shape, Device device) throws IOException {
        Tensor stored = tensors.get(name);
        if (stored == null
                || !stored.shape().equals(shape)
                || stored.type() != parameter.value().type()) {
            throw new TensorFileException(
                    file,
                    "expected " + name + " of " + parameter.value().type() + " " + shape + ", found "
                            + (stored == null ? "none" : stored) + "; start a new run");
        }
        try (Scope scope = Scope.open()) {
            Tensor there = Tensors.to(stored, device);
            Tensor copy = there == stored ? Tensors.copy(stored) : there;
            scope.release(copy);
            return copy;
        }
    }

    @Override
    public void close() {
        tensors.values().forEach(Tensor::close);
    }
}
