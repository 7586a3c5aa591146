package org.gramian.export;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URL;
import java.net.URLConnection;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Protobuf;
import org.gramian.basis.SharedFolderLock;
import org.gramian.export.graph.ModelGraph;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelFileException;
import org.gramian.model.ModelHeader;
import org.gramian.tensor.Shape;
import org.gramian.tensor.library.CacheFolder;
import org.gramian.tensor.library.EnvironmentVariables;
import org.gramian.tensor.library.LibtorchException;
import org.jspecify.annotations.Nullable;

/**
 * Runs a model or a file of {@link ExportedFile} in ONNX Runtime on the CPU: the same rows as libtorch, up to rounding.
 *
 * <p>Thread-safe; close it after the last call, as {@link org.gramian.model.Classifier} does.
 */
public final class OnnxEngine implements Engine, AutoCloseable {
    /**
     * Stack for loading ONNX Runtime and for opening a file: both use more than 2 MiB, and the process dies where there is
     * less. Only what is used takes memory.
     */
    private static final long STACK_BYTES = 64L << 20;

    private static @Nullable OrtEnvironment environment;

    private final OrtSession session;
    private final ModelHeader header;
    private final int side;
    private final int piece;
    private boolean closed;

    /** Computes few crops at once: with 4 on two cores as fast as with 16, in half of the memory. */
    private OnnxEngine(OrtSession session, ModelHeader header, int side, int threads) {
        this.session = session;
        this.header = header;
        this.side = side;
        this.piece =
                Math.max(4, 2 * (threads > 0 ? threads : Runtime.getRuntime().availableProcessors()));
    }

    public static boolean isAvailable() {
        try {
            environment();
            return true;
        } catch (UncheckedIOException _) {
            return false;
        }
    }

    /** Runs a model of 'gramian train', whose tensors are not used any more afterwards. */
    public static OnnxEngine of(ModelFile.Content model, int side, int threads) {
        OrtSession session = session(ExportedFile.content(model, side, ExportedFile.DEFAULT_OPSET), threads);
        return new OnnxEngine(session, model.header(), side, threads);
    }

    /** Opens a file in memory; 0 threads are all cores. */
    static OrtSession session(Protobuf.Writer content, int threads) {
        try (Arena arena = Arena.ofShared()) {
            ByteBuffer bytes = arena.allocate(content.size()).asByteBuffer();
            content.write(new OutputStream() {
                @Override
                public void write(int value) {
                    bytes.put((byte) value);
                }

                @Override
                public void write(byte[] values, int from, int count) {
                    bytes.put(values, from, count);
                }
            });
            bytes.flip();
            return session(threads, (environment, options) -> environment.createSession(bytes, options));
        } catch (OrtException | ExecutionException | IOException wrong) {
            throw new IllegalStateException("ONNX Runtime cannot run the model: " + wrong.getMessage(), wrong);
        }
    }

    /** Opens a file. */
    public static OnnxEngine open(Path file, int threads) throws ModelFileException {
        if (threads < 0) {
            throw new IllegalArgumentException("the number of threads must be at least 1, found " + threads);
        }
        ModelHeader header = ExportedFile.header(file);
        long side = header.card().crops().size();
        long classes = header.card().classes().size();
        return open(file, threads, session -> {
            require(file, session.getInputInfo(), ModelGraph.IMAGES, -1, 3, side, side);
            require(file, session.getOutputInfo(), ModelGraph.SCORES, -1, classes);
            require(file, session.getOutputInfo(), ModelGraph.PROBABILITIES, -1, classes);
            require(file, session.getOutputInfo(), ModelGraph.DESCRIPTORS, -1, header.descriptorSize());
            if (header.card().openSet().isPresent()) {
                require(file, session.getOutputInfo(), ModelGraph.DISTANCES, -1, classes);
            }
            return new OnnxEngine(session, header, (int) side, threads);
        });
    }

    /** Checks the inputs and outputs of a session, and makes an engine of it. */
    @FunctionalInterface
    interface EngineFactory<E> {
        E make(OrtSession session) throws OrtException, ModelFileException;
    }

    /** Opens a file of 'gramian export'; the session is closed if it does not fit. */
    static <E> E open(Path file, int threads, EngineFactory<E> factory) throws ModelFileException {
        try {
            OrtSession session = session(file, threads);
            try {
                return factory.make(session);
            } catch (OrtException | ModelFileException | RuntimeException failed) {
                session.close();
                throw failed;
            }
        } catch (OrtException | ExecutionException wrong) {
            Throwable cause = wrong.getCause() == null ? wrong : wrong.getCause();
            throw new ModelFileException(
                    file,
                    "ONNX Runtime cannot use it: " + cause.getMessage()
                            + "; export the model again, and copy the whole file",
                    wrong);
        }
    }

    /** Opens a file of any program; 0 threads are all cores. */
    static OrtSession session(Path file, int threads) throws OrtException, ExecutionException {
        return session(threads, (environment, options) -> environment.createSession(file.toString(), options));
    }

    @FunctionalInterface
    private interface Opening {
        OrtSession open(OrtEnvironment environment, OrtSession.SessionOptions options) throws OrtException;
    }

    private static OrtSession session(int threads, Opening opening) throws OrtException, ExecutionException {
        OrtEnvironment environment = environment();
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            options.setSessionLogLevel(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL);
            // Idle threads sleep: beside decoding threads, spinning ones take a quarter of the time.
            options.addConfigEntry("session.intra_op.allow_spinning", "0");
            if (threads > 0) {
                options.setIntraOpNumThreads(threads);
            }
            return onDeepStack(() -> opening.open(environment, options));
        }
    }

    /** Created once; not in a static initializer, which the thread with the deep stack would wait for. */
    static synchronized OrtEnvironment environment() {
        OrtEnvironment made = environment;
        if (made == null) {
            // From 1.29 the library sends usage data to its maker, with files in the home and the temporary folder,
            // unless told before.
            EnvironmentVariables.setUnset(Map.of("ORT_DISABLE_TELEMETRY", "1"));
            try {
                unpack();
                made = onDeepStack(
                        () -> OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL, "gramian"));
                made.setTelemetry(false); // Windows has no such variable
            } catch (ExecutionException | OrtException failed) {
                throw new UncheckedIOException(
                        new IOException("ONNX Runtime cannot be loaded: " + failed.getMessage(), failed));
            }
            environment = made;
        }
        return made;
    }

    /**
     * Unpacks the libraries into the cache folder once. ONNX Runtime's own loader unpacks its 28 MB into a temporary folder in every
     * process; it is left to do so where the cache folder cannot be used.
     */
    private static void unpack() {
        String system = System.getProperty("os.name");
        String platform = (system.startsWith("Windows") ? "win" : system.startsWith("Mac") ? "osx" : "linux")
                + (System.getProperty("os.arch").equals("aarch64") ? "-aarch64" : "-x64");
        String version = OrtEnvironment.class.getPackage().getImplementationVersion();
        try {
            Path folder = CacheFolder.ofProcess().resolve("onnxruntime-" + version + "-" + platform);
            Files.createDirectories(folder);
            SharedFolderLock.hold(folder);
            for (String name : List.of("onnxruntime", "onnxruntime4j_jni")) {
                String file = System.mapLibraryName(name);
                URL packed = OrtEnvironment.class.getResource("native/" + platform + "/" + file);
                if (packed == null || version == null) {
                    return;
                }
                URLConnection connection = packed.openConnection();
                connection.setUseCaches(false);
                Path target = folder.resolve(file);
                try (InputStream content = connection.getInputStream()) {
                    if (Files.notExists(target) || Files.size(target) != connection.getContentLengthLong()) {
                        AtomicFile.put(target, partial -> Files.copy(content, partial));
                    }
                }
            }
            System.setProperty("onnxruntime.native.path", folder.toString());
        } catch (IOException | LibtorchException _) {
            // the loader of ONNX Runtime unpacks them
        }
    }

    /** Returns the version of the runtime, e.g. {@code 1.29.0}. */
    public static String version() {
        return environment().getVersion();
    }

    static void require(Path file, Map<String, NodeInfo> found, String name, long... sizes) throws ModelFileException {
        NodeInfo info = found.get(name);
        boolean fits =
                info != null && info.getInfo() instanceof TensorInfo tensor && Arrays.equals(tensor.getShape(), sizes);
        if (!fits) {
            throw new ModelFileException(
                    file,
                    "expected " + name + " of shape " + Arrays.toString(sizes) + ", found "
                            + (info == null ? "no tensor of that name" : info.getInfo())
                            + "; the file does not fit its metadata: export the model again");
        }
    }

    public ModelHeader header() {
        return header;
    }

    @Override
    public Map<Rows, float[][]> compute(MemorySegment crops, Shape shape, Set<Rows> wanted) {
        Map<String, float[][]> computed =
                run(crops, shape, wanted.stream().map(OnnxEngine::output).collect(Collectors.toSet()));
        Map<Rows, float[][]> rows = new EnumMap<>(Rows.class);
        wanted.forEach(each -> rows.put(each, Objects.requireNonNull(computed.get(output(each)))));
        return rows;
    }

    private static String output(Rows wanted) {
        return switch (wanted) {
            case SCORES -> ModelGraph.SCORES;
            case DESCRIPTORS -> ModelGraph.DESCRIPTORS;
            case DISTANCES -> ModelGraph.DISTANCES;
        };
    }

    /** Computes the probabilities of each crop at the card's temperature, {@code [n, k]}. */
    public float[][] probabilities(MemorySegment crops, Shape shape) {
        String output = ModelGraph.PROBABILITIES;
        return Objects.requireNonNull(run(crops, shape, Set.of(output)).get(output));
    }

    private Map<String, float[][]> run(MemorySegment crops, Shape shape, Set<String> outputs) {
        requireFits(crops, shape);
        int count = Math.toIntExact(shape.at(0));
        long bytes = shape.elements() / count * Float.BYTES;
        Map<String, float[][]> rows = new HashMap<>();
        outputs.forEach(output -> rows.put(output, new float[count][]));
        try {
            for (int from = 0; from < count; from += piece) {
                int size = Math.min(piece, count - from);
                run(crops.asSlice(from * bytes, size * bytes), new long[] {size, 3, side, side}, rows, from);
            }
            return rows;
        } catch (OrtException failed) {
            throw new UncheckedIOException(new IOException(
                    "ONNX Runtime could not compute " + outputs + " of crops " + shape + ": " + failed.getMessage(),
                    failed));
        }
    }

    private void run(MemorySegment crops, long[] sizes, Map<String, float[][]> rows, int from) throws OrtException {
        try (OnnxTensor input = OnnxTensor.createTensor(environment(), numbers(crops), sizes);
                OrtSession.Result result = session.run(Map.of(ModelGraph.IMAGES, input), rows.keySet())) {
            for (Map.Entry<String, OnnxValue> output : result) {
                float[][] computed =
                        (float[][]) Objects.requireNonNull(output.getValue().getValue());
                System.arraycopy(computed, 0, Objects.requireNonNull(rows.get(output.getKey())), from, computed.length);
            }
        }
    }

    private void requireFits(MemorySegment crops, Shape shape) {
        boolean fits = shape.rank() == 4
                && shape.at(0) > 0
                && shape.at(1) == 3
                && shape.at(2) == side
                && shape.at(3) == side
                && crops.byteSize() >= shape.elements() * Float.BYTES;
        if (!fits) {
            throw new IllegalArgumentException("expected crops [n, 3, " + side + ", " + side
                    + "], the only size of this ONNX graph, found " + shape + " in "
                    + crops.byteSize() + " bytes");
        }
    }

    /** Returns a view of native memory; ONNX Runtime copies a Java array. */
    private static FloatBuffer numbers(MemorySegment crops) {
        return crops.isNative()
                ? crops.asByteBuffer().order(ByteOrder.nativeOrder()).asFloatBuffer()
                : FloatBuffer.wrap(crops.toArray(ValueLayout.JAVA_FLOAT));
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            close(session);
        }
    }

    static void close(OrtSession session) {
        try {
            session.close();
        } catch (OrtException failed) {
            throw new IllegalStateException("ONNX Runtime could not be closed: " + failed.getMessage(), failed);
        }
    }

    /** Runs a task of ONNX Runtime on a thread with {@link #STACK_BYTES} of stack. */
    private static <T> T onDeepStack(Callable<T> task) throws ExecutionException {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(null, future, "gramian-onnx", STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException _) {
                    interrupted = true; // the task cannot be cancelled; the flag is restored below
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
