package org.gramian.train.loop;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.LongSupplier;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.train.loop.Cancellation.Stopwatch;
import org.gramian.train.loop.Fit.StageState;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Checkpoints of a training run: where they are written, how often, and their file format.
 *
 * <p>A checkpoint is the whole state of a stage as a safetensors file: parameters, the optimizer's state, the best parameters so far,
 * and the {@link StageProgress} as JSON. Tensors are named {@code value.}, {@code best.} and by the optimizer's state, as {@code
 * velocity.} or {@code first-moment.}, followed by the part and the name of the parameter. Order and crops follow from the seed and
 * the progress, so the state of no random generator is stored. SHA-256 checksums are verified at resume.
 */
public final class Checkpointing {
    /** Work that may be lost when the machine fails: one minute. */
    public static final Duration DEFAULT_INTERVAL = Duration.ofMinutes(1);

    private static final String FORMAT = "gramian-checkpoint";
    private static final String VERSION = "5";
    private static final JsonMapper MAPPER = JsonMapper.shared();

    /** Checkpoints at the ends of epochs take at most one part in so many of the time. */
    private static final int SHARE = 10;

    private final @Nullable Path file;
    private final String identity;
    private final Duration interval;
    private final Stopwatch sinceLast;
    private Duration lastTook = Duration.ZERO;

    private Checkpointing(@Nullable Path file, String identity, Duration interval, LongSupplier nanoseconds) {
        this.file = file;
        this.identity = identity;
        this.interval = interval;
        this.sinceLast = new Stopwatch(nanoseconds);
    }

    public Checkpointing(Path file, String identity, Duration interval) {
        this(file, identity, interval, System::nanoTime);
    }

    /** Returns an interval without a file: no checkpoints are written before {@link #to} names one. */
    public static Checkpointing every(Duration interval) {
        return new Checkpointing(null, "", interval, System::nanoTime);
    }

    public Checkpointing to(Path other, String itsIdentity) {
        return new Checkpointing(other, itsIdentity, interval);
    }

    Checkpointing timedBy(LongSupplier nanoseconds) {
        return new Checkpointing(file, identity, interval, nanoseconds);
    }

    public Optional<Path> file() {
        return Optional.ofNullable(file);
    }

    public Duration interval() {
        return interval;
    }

    /** Begins to measure the interval, at the start of a stage. */
    void start() {
        sinceLast.restart();
        lastTook = Duration.ZERO;
    }

    void saveIfDue(StageProgress progress, StageState state) throws IOException {
        if (sinceLast.hasReached(interval)) {
            save(progress, state);
        }
    }

    /** Writes a checkpoint unless the last one is so recent, and took so long, that writing would slow down short epochs. */
    void saveAfterEpoch(StageProgress progress, StageState state) throws IOException {
        if (sinceLast.hasReached(lastTook.multipliedBy(SHARE))) {
            save(progress, state);
        } else {
            saveIfDue(progress, state);
        }
    }

    /** Writes a checkpoint, whole or not at all. */
    void save(StageProgress progress, StageState state) throws IOException {
        if (file != null) {
            Duration before = sinceLast.elapsed();
            write(file, progress, state);
            lastTook = sinceLast.elapsed().minus(before);
            sinceLast.restart();
        }
    }

    private void write(Path target, StageProgress progress, StageState state) throws IOException {
        try (Scope _ = Scope.open()) {
            SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
            state.parameters().forEach((name, parameter) -> {
                tensors.put("value." + name, StoredTensor.of(parameter.value()));
                state.optimizer()
                        .state(parameter)
                        .forEach((what, tensor) -> tensors.put(what + "." + name, StoredTensor.of(tensor)));
            });
            state.best().forEach((name, value) -> tensors.put("best." + name, StoredTensor.of(value)));
            SequencedMap<String, String> metadata = new LinkedHashMap<>();
            metadata.put("format", FORMAT);
            metadata.put("version", VERSION);
            metadata.put("identity", identity);
            metadata.put("optimizer-steps", Long.toString(state.optimizer().steps()));
            metadata.put("position", MAPPER.writeValueAsString(progress));
            Safetensors.writeChecked(target, tensors, metadata);
        }
    }

    public Optional<Checkpoint> find() throws IOException {
        return file == null || !Files.exists(file) ? Optional.empty() : Optional.of(read(file));
    }

    private Checkpoint read(Path source) throws IOException {
        try (Arena arena = Arena.ofShared();
                Scope scope = Scope.open()) {
            TensorFile stored = Safetensors.read(source, arena);
            if (!stored.checked()) {
                throw new TensorFileException(
                        source, "expected a checkpoint with checksums, found none; start a new run");
            }
            Map<String, String> metadata = stored.metadata();
            if (!FORMAT.equals(metadata.get("format")) || !VERSION.equals(metadata.get("version"))) {
                throw new TensorFileException(
                        source,
                        "expected a checkpoint of version " + VERSION + ", found something else; start a new run");
            }
            if (!identity.equals(metadata.get("identity"))) {
                throw new TensorFileException(
                        source,
                        "it belongs to a run with another configuration, dataset or program version;"
                                + " resume with the original ones, or start a new run in another folder");
            }
            StageProgress progress = MAPPER.readValue(metadata.getOrDefault("position", ""), StageProgress.class);
            long steps = Long.parseUnsignedLong(metadata.getOrDefault("optimizer-steps", ""));
            Map<String, Tensor> tensors = new LinkedHashMap<>();
            for (Map.Entry<String, StoredTensor> entry : stored.tensors().entrySet()) {
                tensors.put(entry.getKey(), entry.getValue().toTensor());
            }
            tensors.values().forEach(scope::release); // only now: if one cannot be read, the scope frees the others
            return new Checkpoint(source, progress, steps, tensors);
        } catch (JacksonException | NumberFormatException damaged) {
            throw new TensorFileException(source, "its position is damaged; start a new run", damaged);
        }
    }

    public record Checkpoint(Path file, StageProgress progress, long steps, Map<String, Tensor> tensors)
            implements AutoCloseable {
        void restore(StageState state) throws IOException {
            for (Map.Entry<String, Parameter> entry : state.parameters().entrySet()) {
                String name = entry.getKey();
                Parameter parameter = entry.getValue();
                Device device = parameter.value().device();
                Shape shape = parameter.spec().shape();
                parameter.set(owned("value." + name, parameter, shape, device));
                state.setBest(name, owned("best." + name, parameter, shape, device));
                for (Map.Entry<String, Shape> kept :
                        state.optimizer().stateShapes(parameter).entrySet()) {
                    String stored = kept.getKey() + "." + name;
                    if (tensors.containsKey(stored)) {
                        state.optimizer()
                                .setState(parameter, kept.getKey(), owned(stored, parameter, kept.getValue(), device));
                    }
                }
            }
            state.optimizer().setSteps(steps);
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
                Tensor there = stored.to(device);
                Tensor copy = there == stored ? stored.copy() : there;
                scope.release(copy);
                return copy;
            }
        }

        @Override
        public void close() {
            tensors.values().forEach(Tensor::close);
        }
    }
}
