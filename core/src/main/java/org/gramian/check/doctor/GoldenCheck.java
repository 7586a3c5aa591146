package org.gramian.check.doctor;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.check.doctor.GoldenCheck.GoldenValues;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.CrossCovariance;
import org.gramian.pooling.DropCov;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.PoolingStage;
import org.gramian.pooling.Radam;
import org.gramian.pooling.Vectorization.TensorSketch;
import org.gramian.spd.Democratic;
import org.gramian.spd.Kernel;
import org.gramian.spd.Kernel.Bilinear;
import org.gramian.spd.Kernel.Covariance;
import org.gramian.spd.Kernel.Laplacian;
import org.gramian.spd.Kernel.Polynomial;
import org.gramian.spd.KernelSum;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.spd.SpectralFunction;
import org.gramian.spd.SpectralFunction.Log;
import org.gramian.spd.SpectralFunction.Power;
import org.gramian.spd.SpectralFunction.ReEig;
import org.gramian.spd.layer.Barycenter;
import org.gramian.spd.layer.NewtonSchulz;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.SparseInverse;
import org.gramian.spd.layer.SpdTransform;
import org.gramian.spd.layer.Stiefel;
import org.gramian.spd.layer.UpperTriangle;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/** Compares every layer, forward and backward, with reference values in float64. */
public record GoldenCheck(DType type, Device device) {
    /** Tolerances well above the rounding of the small reference problems. */
    private static final Map<DType, Double> TOLERANCES = Map.of(DType.F64, 1e-9, DType.F32, 1e-4);

    public GoldenCheck {
        if (!TOLERANCES.containsKey(type)) {
            throw new IllegalArgumentException("expected golden values in F64 or F32, found " + type);
        }
    }

    /** Results of a folder of reference files. */
    public record Report(List<CheckResult> outcomes, List<String> others) {}

    /**
     * Compares all files of a folder.
     *
     * @throws IOException if the folder or a file cannot be read
     */
    public Report compare(Path folder) throws IOException {
        List<CheckResult> outcomes = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (Path file : files(folder)) {
            String name = file.getFileName().toString().replace(".safetensors", "");
            if (GoldenLayers.names().contains(name)) {
                outcomes.addAll(compare(name, file));
            } else {
                others.add(name);
            }
        }
        return new Report(outcomes, others);
    }

    /**
     * Checks a folder before other work.
     *
     * @throws IOException if it has no reference files
     */
    public static void require(Path folder) throws IOException {
        var _ = files(folder);
    }

    private static List<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IOException("expected a folder of reference files (*.safetensors), found "
                    + (Files.exists(folder) ? "the file " : "nothing at ") + folder);
        }
        try (Stream<Path> all = Files.list(folder)) {
            List<Path> files = all.filter(f -> f.toString().endsWith(".safetensors"))
                    .sorted()
                    .toList();
            if (files.isEmpty()) {
                throw new IOException("no reference files (*.safetensors) in " + folder);
            }
            return files;
        }
    }

    private List<CheckResult> compare(String name, Path path) throws IOException {
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            TensorFile file = Safetensors.read(path, arena);
            GoldenValues values = new GoldenValues(file, type, device);
            List<CheckResult> outcomes = new ArrayList<>();
            for (Map.Entry<String, Tensor> computed :
                    GoldenLayers.compute(name, values).entrySet()) {
                Tensor expected = file.get(computed.getKey()).toTensor();
                outcomes.add(new CheckResult(
                        name + ": " + computed.getKey(),
                        error(computed.getValue(), expected),
                        TOLERANCES.getOrDefault(type, 0.0)));
            }
            return outcomes;
        }
    }

    /** Returns the largest deviation relative to the largest magnitude of the expected tensor; infinite for other shapes. */
    static double error(Tensor found, Tensor expected) {
        if (found.shape().elements() != expected.shape().elements()) {
            return Double.POSITIVE_INFINITY;
        }
        Tensor host =
                found.to(Device.CPU).to(DType.F64).reshape(expected.shape().sizes());
        if (!host.allFinite()) {
            return Double.NaN;
        }
        double scale = expected.largestMagnitude();
        double deviation = host.sub(expected).largestMagnitude();
        return scale == 0 ? deviation : deviation / scale;
    }

    /** Tensors of one reference file in the type and on the device that is checked. */
    record GoldenValues(TensorFile file, DType type, Device device) {
        Tensor get(String name) throws TensorFileException {
            Tensor stored = file.get(name).toTensor();
            DType wanted = stored.type().isFloating() ? type : stored.type();
            return stored.to(wanted).to(device);
        }
    }

    /** Computes the tensors of each reference file from its inputs. */
    static final class GoldenLayers {
        /** Computes the compared tensors of one file by name. */
        @FunctionalInterface
        private interface Computation {
            Map<String, Tensor> of(GoldenValues values) throws TensorFileException;
        }

        private static final SequencedMap<String, Computation> ALL = new LinkedHashMap<>();

        static {
            kernel("bilinear", new Bilinear(0));
            kernel("covariance", new Covariance(0));
            Kernel product = new KernelSum(List.of(
                    new KernelSum.Term(1, List.of(new Rbf(new Sigma.Fixed(2), 0))),
                    new KernelSum.Term(0.5, List.of(new Bilinear(0), new Laplacian(3, 0)))));
            forward("kernel_sum", "M", "K", x -> product.apply(x, Bindings.of(Map.of())));
            forward("democratic", "M", "K", x -> new Democratic(0.3, 10, 0).apply(x, Bindings.of(Map.of())));
            kernel("kernel_laplacian", new Laplacian(3, 0));
            kernel("kernel_polynomial", new Polynomial(2, 0.5, 1, 0));
            kernel("kernel_rbf_mean", new Rbf(new Sigma.Mean(), 0));
            kernel("kernel_rbf_mean_full", new Rbf(new Sigma.MeanFull(), 0));
            layer(
                    "kernel_rbf_learned",
                    List.of("M", "logSigma"),
                    "K",
                    x -> new Rbf(new Sigma.Learned(), 0)
                            .apply(x.getFirst(), Bindings.of(Map.of("logSigma", x.get(1)))));
            layer("spd_transform", List.of("S", "W"), "Y", x -> SpdTransform.apply(x.getFirst(), x.get(1)));
            spectral("spectral_log", new Log(SpectralFunction.DEFAULT_FLOOR));
            spectral("spectral_sqrt", new Power(0.5, SpectralFunction.DEFAULT_FLOOR));
            spectral("spectral_power_0.3", new Power(0.3, SpectralFunction.DEFAULT_FLOOR));
            spectral("spectral_reeig_0.5", new ReEig(0.5));
            layer("isqrt_5", List.of("S"), "Y", x -> NewtonSchulz.squareRoot(x.getFirst(), 5));
            layer("vectorize", List.of("Y"), "v", x -> UpperTriangle.vectorize(x.getFirst()));
            Normalization root = new Normalization.Root(1e-5);
            Normalization length = new Normalization.L2();
            Bindings none = Bindings.of(Map.of());
            layer("power_l2", List.of("v"), "z", x -> length.apply(root.apply(x.getFirst(), none), none));
            layer(
                    "netvlad",
                    List.of("X", "assignWeight", "assignBias", "centroids"),
                    "V",
                    x -> length.apply(
                            new NetVlad(4, false)
                                    .apply(x.getFirst(), bind(x, List.of("assignWeight", "assignBias", "centroids"))),
                            none));
            layer(
                    "deep_ten",
                    List.of("X", "codewords", "smoothing"),
                    "E",
                    x -> new DeepTen(4)
                            .apply(x.getFirst(), bind(x, List.of("codewords", "smoothing")))
                            .reshape(3, 4, 7));
            ALL.put("rbn", values -> Map.of("inverseRoot", Barycenter.inverseRoot(values.get("S"))));
            forward("isice_5", "S", "Y", x -> SparseInverse.of(x, 5, 0.01, 1));
            forward("radam", "X", "v", x -> new Radam(4).apply(x, Bindings.of(Map.of())));
            ALL.put("sot", values -> bound(values, "M", "v", List.of("weight", "start"), new CrossCovariance(2, 3, 2)));
            ALL.put("dropcov", values -> bound(values, "M", "X", List.of("weight", "draws"), new DropCov()));
            ALL.put("fisher_vector", GoldenLayers::fisherVector);
            ALL.put("compact_bilinear", GoldenLayers::compactBilinear);
            ALL.put("head", GoldenLayers::head);
            ALL.put("stiefel", GoldenLayers::stiefel);
        }

        static List<String> names() {
            return List.copyOf(ALL.keySet());
        }

        static Map<String, Tensor> compute(String name, GoldenValues values) throws TensorFileException {
            Computation computation = ALL.get(name);
            if (computation == null) {
                throw new IllegalArgumentException("unknown layer of the reference file " + name);
            }
            return computation.of(values);
        }

        /** Computes the sketch, which the file sums over positions, while {@code bilinear} averages them. */
        private static Map<String, Tensor> compactBilinear(GoldenValues values) throws TensorFileException {
            try (Tape tape = Tape.inference()) {
                Var maps = tape.constant(values.get("X"));
                Var mean = new Bilinear(0).apply(maps, Bindings.of(Map.of()));
                Var sum = mean.mul((double) maps.shape().at(2));
                Bindings hashes = Bindings.of(Map.of(
                        "h", tape.constant(values.get("h").to(values.type())),
                        "s", tape.constant(values.get("s").to(values.type()))));
                return Map.of(
                        "sketch",
                        new TensorSketch(16).apply(sum, hashes).value().copy());
            }
        }

        /** Computes a stage with parameters, without gradients. */
        private static Map<String, Tensor> bound(
                GoldenValues values, String input, String output, List<String> parameters, PoolingStage stage)
                throws TensorFileException {
            try (Tape tape = Tape.inference()) {
                Map<String, Var> variables = new LinkedHashMap<>();
                for (String name : parameters) {
                    variables.put(name, tape.constant(values.get(name)));
                }
                Var result = stage.apply(tape.constant(values.get(input)), Bindings.of(variables));
                return Map.of(output, result.value().copy());
            }
        }

        private static void kernel(String file, Kernel kernel) {
            layer(file, List.of("M"), "K", x -> kernel.apply(x.getFirst(), Bindings.of(Map.of())));
        }

        private static void spectral(String file, SpectralFunction function) {
            layer(file, List.of("S"), "Y", x -> function.apply(x.getFirst()));
        }

        /** Binds all but the first input to names of parameters. */
        private static Bindings bind(List<Var> inputs, List<String> names) {
            Map<String, Var> parameters = new LinkedHashMap<>();
            for (int i = 0; i < names.size(); i++) {
                parameters.put(names.get(i), inputs.get(i + 1));
            }
            return Bindings.of(parameters);
        }

        /** Computes the plain Fisher vector, the improved one, and the part of the weights, which comes first. */
        private static Map<String, Tensor> fisherVector(GoldenValues values) throws TensorFileException {
            try (Tape tape = Tape.inference()) {
                Map<String, Var> mixture = new LinkedHashMap<>();
                for (String name : List.of("weights", "means", "deviations")) {
                    mixture.put("fisher." + name, tape.constant(values.get(name)));
                }
                Tensor maps = values.get("X");
                Var x = tape.constant(maps.reshape(maps.size(0), maps.size(1), 1, maps.size(2)));
                Bindings bindings = Bindings.of(mixture);
                Tensor whole = Pooling.parse("fisher:4,weights=true")
                        .apply(x, bindings)
                        .value();
                Tensor improved = Pooling.parse("fisher:4/root:eps=0/l2")
                        .apply(x, bindings)
                        .value();
                return Map.of(
                        "fvWeights", whole.slice(1, 0, 4).copy(),
                        "fv", whole.slice(1, 4, whole.size(1)).copy(),
                        "improved", improved.copy());
            }
        }

        /** Adds a layer from named inputs to one output, whose upstream gradient is {@code g}. */
        private static void layer(String file, List<String> inputs, String output, Function<List<Var>, Var> layer) {
            ALL.put(file, values -> {
                try (Tape tape = Tape.recording()) {
                    List<Var> variables = new ArrayList<>();
                    for (String input : inputs) {
                        variables.add(tape.variable(values.get(input)));
                    }
                    Var result = layer.apply(variables);
                    Map<String, Tensor> computed = new LinkedHashMap<>();
                    computed.put(output, result.value().copy());
                    try (Gradients gradients = tape.backward(result, values.get("g"))) {
                        for (int i = 0; i < inputs.size(); i++) {
                            computed.put(
                                    gradientName(inputs.get(i)),
                                    gradients.of(variables.get(i)).copy());
                        }
                    }
                    return computed;
                }
            });
        }

        /** Adds a layer whose file has no gradients. */
        private static void forward(String file, String input, String output, UnaryOperator<Var> layer) {
            ALL.put(file, values -> {
                try (Tape tape = Tape.inference()) {
                    return Map.of(
                            output,
                            layer.apply(tape.constant(values.get(input)))
                                    .value()
                                    .copy());
                }
            });
        }

        /** Returns the name of a gradient in the files: {@code dM} of M, {@code dLogSigma} of logSigma. */
        private static String gradientName(String input) {
            return input.length() == 1
                    ? "d" + input
                    : "d" + input.substring(0, 1).toUpperCase(Locale.ROOT) + input.substring(1);
        }

        /** Computes the head with classifier and loss; K and Y are outputs of the first stages. */
        private static Map<String, Tensor> head(GoldenValues values) throws TensorFileException {
            List<String> names = List.of("x", "convWeight", "convBias", "W", "fcWeight", "fcBias");
            Map<String, Tensor> computed = new LinkedHashMap<>();
            try (Tape tape = Tape.recording()) {
                Map<String, Var> in = new LinkedHashMap<>();
                for (String name : names) {
                    in.put(name, tape.variable(values.get(name)));
                }
                Bindings bindings = Bindings.of(Map.of(
                        "conv.weight",
                        at(in, "convWeight"),
                        "conv.bias",
                        at(in, "convBias"),
                        "spd0.weight",
                        at(in, "W")));
                Var x = at(in, "x");
                computed.put("K", matrix(Pooling.parse("conv:7/rbf/flat").apply(x, bindings)));
                computed.put(
                        "Y", matrix(Pooling.parse("conv:7/rbf/spd:4/relu/flat").apply(x, bindings)));
                Var z = Pooling.parse("conv:7/rbf/spd:4/relu/triu/root/l2").apply(x, bindings);
                Var logits = z.linear(at(in, "fcWeight"), at(in, "fcBias"));
                Tensor targets = Classification.oneHot(values.get("target").toLongs(), 3, values.type());
                Var loss = Classification.crossEntropy(logits, targets.to(values.device()));
                computed.put("z", z.value().copy());
                computed.put("logits", logits.value().copy());
                computed.put("loss", loss.value().copy());
                try (Gradients gradients = tape.backward(loss)) {
                    for (String name : names) {
                        computed.put(
                                gradientName(name), gradients.of(at(in, name)).copy());
                    }
                }
            }
            return computed;
        }

        private static Var at(Map<String, Var> variables, String name) {
            return Objects.requireNonNull(variables.get(name), name);
        }

        private static Tensor matrix(Var flat) {
            long size = Math.round(Math.sqrt((double) flat.shape().at(1)));
            return flat.reshape(flat.shape().at(0), size, size).value().copy();
        }

        /** Takes three steps of size 0.1 along given gradients, for both metrics and two retractions. */
        private static Map<String, Tensor> stiefel(GoldenValues values) throws TensorFileException {
            Tensor gradients = values.get("F");
            Map<String, Tensor> computed = new LinkedHashMap<>();
            for (Stiefel.Metric metric : Stiefel.Metric.values()) {
                for (Retraction retraction : List.of(Retraction.QR, Retraction.POLAR)) {
                    Tensor w = values.get("W0");
                    for (int step = 0; step < gradients.size(0); step++) {
                        Tensor f = gradients
                                .slice(0, step, step + 1)
                                .reshape(w.shape().sizes());
                        w = retraction.apply(w, Stiefel.gradient(w, f, metric).mul(-0.1));
                    }
                    computed.put(
                            metric.name().toLowerCase(Locale.ROOT) + "_"
                                    + retraction.name().toLowerCase(Locale.ROOT),
                            w);
                }
            }
            return computed;
        }
    }
}
