package org.gramian.export;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.gramian.basis.FileLoader;
import org.gramian.export.graph.NotExpressibleException;
import org.gramian.model.Classifier;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;
import org.gramian.tensor.Device;
import org.jspecify.annotations.Nullable;

/**
 * A loaded model of either kind of file: of 'gramian train' or of 'gramian export'. It runs in ONNX Runtime on a CPU, in libtorch
 * on a GPU.
 *
 * <pre>{@code
 * try (OpenModel model = OpenModel.open(Path.of("model.onnx"), OpenModel.Request.of(OpenModel.EngineChoice.AUTO))) {
 *     Prediction prediction = model.classifier().predict(Path.of("photo.jpg"));
 * }
 * }</pre>
 *
 * <p>libtorch is not loaded for ONNX Runtime.
 *
 * @param engineName {@code libtorch} or {@code onnx}
 * @param gradients returns the model in libtorch, which is closed with the classifier; empty for an ONNX file
 */
public record OpenModel(
        ModelHeader header, Classifier classifier, String engineName, Optional<Supplier<Model>> gradients)
        implements AutoCloseable {
    /** The runtime of a model. */
    public enum EngineChoice {
        /** ONNX Runtime for an ONNX file, and on a CPU for a model that it can run; else libtorch. */
        AUTO,
        LIBTORCH,
        /** ONNX Runtime. */
        ONNX
    }

    /**
     * How to open a model.
     *
     * @param device of a model of 'gramian train'; must not load libtorch needlessly
     * @param libtorch sets up libtorch and returns the device; called before libtorch runs the model
     * @param threads of one operator in ONNX Runtime, 0 for all cores; those of libtorch are set for the whole process
     * @param gradients whether the model must be able to compute gradients
     */
    public record Request(
            EngineChoice engine,
            Supplier<Device> device,
            Supplier<Device> libtorch,
            int threads,
            int side,
            boolean gradients) {
        /** Returns a request for the CPU, for all cores and the crops of the card. */
        public static Request of(EngineChoice engine) {
            return new Request(engine, () -> Device.CPU, () -> Device.CPU, 0, 0, false);
        }

        /** Returns whether a model of 'gramian train' runs in ONNX Runtime, if it can. */
        boolean prefersOnnx() {
            return engine == EngineChoice.ONNX
                    || (engine == EngineChoice.AUTO && device.get().equals(Device.CPU));
        }

        /** Rejects libtorch for an ONNX file. */
        void requireOnnx(Path file) {
            if (engine == EngineChoice.LIBTORCH) {
                throw new IllegalArgumentException("libtorch does not run ONNX files, found " + file
                        + "; use the model that it was exported from, or --engine onnx");
            }
        }

        /** Returns this request with a size of the crops. */
        public Request withSide(int size) {
            return new Request(engine, device, libtorch, threads, size, gradients);
        }

        /** Returns this request for a model that must be able to compute gradients. */
        public Request withGradients() {
            return new Request(engine, device, libtorch, threads, side, true);
        }
    }

    /** Opens classifiers for {@link Classifier#load(Path)}. */
    public static final class Loader implements FileLoader<Classifier> {
        @Override
        public Class<Classifier> type() {
            return Classifier.class;
        }

        @Override
        public Classifier load(Path file) throws IOException {
            return open(file, Request.of(EngineChoice.AUTO)).classifier();
        }
    }

    /** Reads the header of a model file of either kind. */
    public static ModelHeader header(Path file) throws ModelFileException {
        return ExportedFile.isNamed(file) ? ExportedFile.header(file) : ModelFile.header(file);
    }

    /** Opens a model file. */
    public static OpenModel open(Path file, Request request) throws IOException {
        if (ExportedFile.isNamed(file)) {
            return exported(file, request);
        }
        boolean onnx = request.prefersOnnx();
        if (onnx) {
            Thread.ofPlatform().daemon().start(OnnxEngine::isAvailable); // loads its library while the file is read
        }
        Arena arena = Arena.ofShared();
        boolean kept = false;
        try {
            ModelFile.Content content = ModelFile.content(file, arena);
            if (onnx && (request.engine == EngineChoice.ONNX || OnnxEngine.isAvailable())) {
                try {
                    OpenModel opened = inOnnx(content, arena, request);
                    kept = request.gradients;
                    return opened;
                } catch (NotExpressibleException wrong) {
                    if (request.engine == EngineChoice.ONNX) {
                        throw wrong;
                    }
                }
            }
            return of(new ModelFile.Stored(
                    content.toModel(request.libtorch.get()), content.header().card()));
        } finally {
            if (!kept) {
                arena.close();
            }
        }
    }

    /** Returns a model in libtorch; closing it closes the model. */
    public static OpenModel of(ModelFile.Stored stored) {
        return new OpenModel(
                ModelHeader.of(stored.model(), stored.card()),
                Classifier.of(stored.model(), stored.card()),
                "libtorch",
                Optional.of(stored::model));
    }

    private static OpenModel inOnnx(ModelFile.Content content, Arena arena, Request request) {
        int side = request.side == 0 ? content.header().card().crops().size() : request.side;
        OnnxEngine engine = OnnxEngine.of(content, side, request.threads);
        if (!request.gradients) {
            return of(engine, engine::close, Optional.empty());
        }
        LazyModel model = new LazyModel(content, arena, request.libtorch, engine);
        return of(engine, model::close, Optional.of(model));
    }

    private static OpenModel exported(Path file, Request request) throws IOException {
        request.requireOnnx(file);
        int side = ExportedFile.header(file).card().crops().size();
        if (request.side != 0 && request.side != side) {
            throw new IllegalArgumentException("an ONNX model takes crops of size " + side + ", found " + request.side
                    + "; use the model that it was exported from");
        }
        OnnxEngine engine = OnnxEngine.open(file, request.threads);
        return of(engine, engine::close, Optional.empty());
    }

    private static OpenModel of(OnnxEngine engine, Runnable release, Optional<Supplier<Model>> gradients) {
        ModelHeader header = engine.header();
        return new OpenModel(header, Classifier.of(engine, header.card(), release), "onnx", gradients);
    }

    /** A model in libtorch that is made from host memory on the first call, beside its ONNX engine. */
    private static final class LazyModel implements Supplier<Model>, AutoCloseable {
        private final ModelFile.Content content;
        private final Arena arena;
        private final Supplier<Device> device;
        private final OnnxEngine engine;
        private @Nullable Model model;

        LazyModel(ModelFile.Content content, Arena arena, Supplier<Device> device, OnnxEngine engine) {
            this.content = content;
            this.arena = arena;
            this.device = device;
            this.engine = engine;
        }

        @Override
        public synchronized Model get() {
            Model made = model;
            if (made == null) {
                made = content.toModel(device.get());
                model = made;
            }
            return made;
        }

        @Override
        public synchronized void close() {
            engine.close();
            if (model != null) {
                model.close();
            }
            arena.close();
        }
    }

    public ModelCard card() {
        return header.card();
    }

    @Override
    public void close() {
        classifier.close();
    }
}
