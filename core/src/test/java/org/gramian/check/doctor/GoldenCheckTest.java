package org.gramian.check.doctor;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Cross.CrossCovariance;
import org.gramian.pooling.DropCov;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
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
import org.gramian.spd.Rbf.Backward;
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
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every layer, forward and backward, against reference values in float64 of independent programs ({@code scripts/golden}). */
class GoldenCheckTest {
    private static final Path GOLDEN = Path.of("src", "test", "resources", "golden");

    /** @param inputs names in the file; the first is the argument, all are bound by their names */
    private record ReferenceLayer(
            List<String> inputs, List<String> outputs, BiFunction<Var, Bindings, List<Var>> function) {}

    private static final Bindings NONE = Bindings.of(Map.of());
    private static final Normalization L2 = new Normalization.L2();
    private static final Map<String, ReferenceLayer> LAYERS = new LinkedHashMap<>();

    static {
        layer("bilinear", "M", "K", new Bilinear(0)::apply);
        layer("covariance", "M", "K", new Covariance(0, 0)::apply);
        Kernel sum = new KernelSum(List.of(
                new KernelSum.Term(1, List.of(new Rbf(new Sigma.Fixed(2), 0))),
                new KernelSum.Term(0.5, List.of(new Bilinear(0), new Laplacian(3, 0)))));
        layer("kernel_sum", "M", "K", sum::apply);
        layer("democratic", "M", "K", new Democratic(0.3, 10, 0)::apply);
        layer("kernel_laplacian", "M", "K", new Laplacian(3, 0)::apply);
        layer("kernel_polynomial", "M", "K", new Polynomial(2, 0.5, 1, 0)::apply);
        layer("kernel_rbf_mean", "M", "K", new Rbf(new Sigma.Mean(), 0)::apply);
        layer("kernel_rbf_mean_full", "M", "K", new Rbf(new Sigma.MeanFull(), 0)::apply);
        layer("kernel_rbf_learned", "M logSigma", "K", new Rbf(new Sigma.Learned(), 0)::apply);
        layer("spd_transform", "S W", "Y", (x, p) -> SpdTransform.apply(x, p.get("W")));
        layer("spectral_log", "S", "Y", (x, _) -> new Log(SpectralFunction.DEFAULT_FLOOR).apply(x));
        layer("spectral_sqrt", "S", "Y", (x, _) -> new Power(0.5, SpectralFunction.DEFAULT_FLOOR).apply(x));
        layer("spectral_power_0.3", "S", "Y", (x, _) -> new Power(0.3, SpectralFunction.DEFAULT_FLOOR).apply(x));
        layer("spectral_reeig_0.5", "S", "Y", (x, _) -> new ReEig(0.5).apply(x));
        layer("isqrt_5", "S", "Y", (x, _) -> NewtonSchulz.squareRoot(x, 5));
        layer("isice_5", "S", "Y", (x, _) -> SparseInverse.of(x, 5, 0.01, 1));
        layer("rbn", "S", "inverseRoot", (x, _) -> x.tape().constant(Barycenter.inverseRoot(x.value())));
        layer("vectorize", "Y", "v", (x, _) -> UpperTriangle.vectorize(x, Backward.EXACT));
        layer("power_l2", "v", "z", (x, _) -> L2.apply(new Normalization.Root(1e-5).apply(x, NONE), NONE));
        layer(
                "netvlad",
                "X assignWeight assignBias centroids",
                "V",
                (x, p) -> L2.apply(new NetVlad(4, false).apply(x, p), NONE));
        layer(
                "deep_ten",
                "X codewords smoothing",
                "E",
                (x, p) -> new DeepTen(4).apply(x, p).reshape(3, 4, 7));
        layer("radam", "X", "v", new Radam(4)::apply);
        layer("sot", "M weight start", "v", new CrossCovariance(2, 3, 2)::apply);
        layer("dropcov", "M weight draws", "X", new DropCov()::apply);
        layer("compact_bilinear", "X h s", "sketch", GoldenCheckTest::compactBilinear);
        LAYERS.put(
                "fisher_vector",
                new ReferenceLayer(
                        List.of("X", "weights", "means", "deviations"),
                        List.of("fvWeights", "fv", "improved"),
                        GoldenCheckTest::fisherVector));
        LAYERS.put(
                "head",
                new ReferenceLayer(
                        List.of("x", "convWeight", "convBias", "W", "fcWeight", "fcBias", "target"),
                        List.of("K", "Y", "z", "logits", "loss"),
                        GoldenCheckTest::head));
        LAYERS.put(
                "stiefel",
                new ReferenceLayer(
                        List.of("W0", "F"),
                        List.of("euclidean_qr", "euclidean_polar", "canonical_qr", "canonical_polar"),
                        GoldenCheckTest::stiefel));
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"F64", "F32"})
    void layersMatchReferenceValuesForwardAndBackward(DType type) throws IOException {
        double tolerance = type == DType.F64 ? 1e-9 : 1e-4;
        List<String> compared = new ArrayList<>();
        try (Stream<Path> files = Files.list(GOLDEN)) {
            for (Path path :
                    files.filter(f -> f.toString().endsWith(".safetensors")).toList()) {
                String name = path.getFileName().toString().replace(".safetensors", "");
                compared.add(name);
                try (Arena arena = Arena.ofShared();
                        Scope _ = Scope.open()) {
                    TensorFile file = Safetensors.read(path, arena);
                    for (Map.Entry<String, Tensor> computed : compute(
                                    Objects.requireNonNull(LAYERS.get(name)), file, type)
                            .entrySet()) {
                        Tensor expected = file.get(computed.getKey()).toTensor();
                        assertThat(error(computed.getValue(), expected))
                                .as(name + ": " + computed.getKey())
                                .isLessThanOrEqualTo(tolerance);
                    }
                }
            }
        }
        assertThat(compared).containsExactlyInAnyOrderElementsOf(LAYERS.keySet());
    }

    /** Computes outputs, and the gradients of the last one if the file has its upstream gradient {@code g} or it is a loss. */
    private static Map<String, Tensor> compute(ReferenceLayer layer, TensorFile file, DType type)
            throws TensorFileException {
        boolean differentiated =
                file.tensors().containsKey("g") || layer.outputs.getLast().equals("loss");
        Map<String, Tensor> computed = new LinkedHashMap<>();
        try (Tape tape = differentiated ? Tape.recording() : Tape.inference()) {
            SequencedMap<String, Var> in = new LinkedHashMap<>();
            for (String name : layer.inputs) {
                Tensor value = file.get(name).toTensor();
                in.put(name, value.type().isFloating() ? tape.variable(value.to(type)) : tape.constant(value));
            }
            List<Var> out = layer.function.apply(in.firstEntry().getValue(), Bindings.of(in));
            for (int i = 0; i < out.size(); i++) {
                computed.put(layer.outputs.get(i), out.get(i).value().copy());
            }
            if (differentiated) {
                Var last = out.getLast();
                try (Gradients gradients = file.tensors().containsKey("g")
                        ? tape.backward(last, file.get("g").toTensor().to(type))
                        : tape.backward(last)) {
                    in.forEach((name, variable) -> {
                        if (variable.value().type().isFloating()) {
                            computed.put(
                                    gradientName(name), gradients.of(variable).copy());
                        }
                    });
                }
            }
        }
        return computed;
    }

    /** Returns the name of a gradient in the files: {@code dM} of M, {@code dLogSigma} of logSigma. */
    private static String gradientName(String input) {
        return input.length() == 1
                ? "d" + input
                : "d" + input.substring(0, 1).toUpperCase(Locale.ROOT) + input.substring(1);
    }

    private static double error(Tensor found, Tensor expected) {
        if (found.shape().elements() != expected.shape().elements()) {
            return Double.POSITIVE_INFINITY;
        }
        Tensor host = found.to(DType.F64).reshape(expected.shape().sizes());
        if (!host.allFinite()) {
            return Double.NaN;
        }
        double scale = expected.largestMagnitude();
        double deviation = host.sub(expected).largestMagnitude();
        return scale == 0 ? deviation : deviation / scale;
    }

    private static void layer(String file, String inputs, String output, BiFunction<Var, Bindings, Var> layer) {
        List<String> names = List.of(inputs.split(" ", -1));
        LAYERS.put(file, new ReferenceLayer(names, List.of(output), (x, p) -> List.of(layer.apply(x, p))));
    }

    /** Computes the sketch, which the file sums over positions, while {@code bilinear} averages them. */
    private static Var compactBilinear(Var maps, Bindings parameters) {
        Var sum = new Bilinear(0).apply(maps, NONE).mul((double) maps.shape().at(2));
        DType type = maps.value().type();
        Map<String, Var> hashes = new LinkedHashMap<>();
        for (String name : List.of("h", "s")) {
            hashes.put(name, maps.tape().constant(parameters.get(name).value().to(type)));
        }
        return new TensorSketch(16).apply(sum, Bindings.of(hashes));
    }

    /** Computes the part of the weights, which comes first, the plain Fisher vector, and the improved one. */
    private static List<Var> fisherVector(Var maps, Bindings parameters) {
        Map<String, Var> mixture = new LinkedHashMap<>();
        for (String name : List.of("weights", "means", "deviations")) {
            mixture.put("fisher." + name, parameters.get(name));
        }
        Bindings bindings = Bindings.of(mixture);
        Var x = maps.reshape(
                maps.shape().at(0), maps.shape().at(1), 1, maps.shape().at(2));
        Var whole = Pooling.parse("fisher:4,weights=true").apply(x, bindings);
        return List.of(
                whole.slice(1, 0, 4),
                whole.slice(1, 4, whole.shape().at(1)),
                Pooling.parse("fisher:4/root:eps=0/l2").apply(x, bindings));
    }

    /** Computes the head with classifier and loss; K and Y are outputs of the first stages. */
    private static List<Var> head(Var x, Bindings p) {
        Bindings bindings = Bindings.of(
                Map.of("conv.weight", p.get("convWeight"), "conv.bias", p.get("convBias"), "spd0.weight", p.get("W")));
        Var z = Pooling.parse("conv:7/rbf/spd:4/relu/triu/root/l2").apply(x, bindings);
        Var logits = z.linear(p.get("fcWeight"), p.get("fcBias"));
        Tensor targets = Classification.oneHot(
                p.get("target").value().toLongs(), 3, x.value().type());
        return List.of(
                Pooling.parse("conv:7/rbf/flat").apply(x, bindings),
                Pooling.parse("conv:7/rbf/spd:4/relu/flat").apply(x, bindings),
                z,
                logits,
                Classification.crossEntropy(logits, targets));
    }

    /** Takes three steps of size 0.1 along given gradients, for both metrics and two retractions. */
    private static List<Var> stiefel(Var start, Bindings parameters) {
        Tensor gradients = parameters.get("F").value();
        List<Var> ends = new ArrayList<>();
        for (Stiefel.Metric metric : List.of(Stiefel.Metric.EUCLIDEAN, Stiefel.Metric.CANONICAL)) {
            for (Retraction retraction : List.of(Retraction.QR, Retraction.POLAR)) {
                Tensor w = start.value();
                for (int step = 0; step < gradients.size(0); step++) {
                    Tensor f =
                            gradients.slice(0, step, step + 1).reshape(w.shape().sizes());
                    w = retraction.apply(w, Stiefel.gradient(w, f, metric).mul(-0.1));
                }
                ends.add(start.tape().constant(w));
            }
        }
        return ends;
    }
}
