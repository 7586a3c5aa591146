package org.gramian.cli.check;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.NearestWord;
import org.gramian.basis.Subsample;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.Version;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.PoolingStage;
import org.gramian.spd.Diagnostics;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Npy;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian pool}: computes descriptors, and gradients, of given feature maps. */
@Command(
        name = "pool",
        mixinStandardHelpOptions = true,
        header = "Pool your own feature maps into descriptors.",
        description = {
            "Computes descriptors of feature maps [n, channels, height, width].",
            "FEATURES is a .npy file, or a .safetensors file with the key 'features'. OUT gets the key 'descriptors',",
            "and with --upstream also 'grad.features', 'grad.conv.weight', 'grad.spd0.weight', ..."
        })
public final class PoolCommand implements Callable<Integer> {
    /** Number of images that are checked for dead and duplicate channels. */
    private static final long CHECKED_IMAGES = 32;

    /** Characters of a stage's form that fit on a line of the help. */
    private static final int MAX_FORM_LENGTH = 72;

    @Mixin
    private final Console console = new Console();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Option(
            names = "--pooling",
            paramLabel = "SPEC",
            defaultValue = "default",
            description = "stages joined by '/', or a method, see below (default: the method '${DEFAULT-VALUE}')")
    private String pooling;

    @Option(
            names = "--params",
            paramLabel = "FILE",
            description =
                    "parameters: a .safetensors file with conv.weight, conv.bias, spd0.weight, ... (default: random)")
    private @Nullable Path params;

    @Option(
            names = "--upstream",
            paramLabel = "FILE",
            description = "upstream gradient of the descriptors (key 'upstream', or .npy): also write gradients")
    private @Nullable Path upstream;

    @Option(
            names = "--dtype",
            paramLabel = "TYPE",
            defaultValue = "f32",
            description = "precision: f32 or f64 (default: ${DEFAULT-VALUE})")
    private DType precision;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "random seed of the parameters (default: ${DEFAULT-VALUE})")
    private long seed;

    @Option(
            names = {"--batch", "--batch-size"},
            paramLabel = "N",
            defaultValue = "32",
            description = "batch size (default: ${DEFAULT-VALUE})")
    private int batch;

    @Parameters(index = "0", paramLabel = "FEATURES", description = "feature maps, a .npy or .safetensors file")
    private Path features;

    @Parameters(index = "1", paramLabel = "OUT", description = "a .safetensors file, or .npy for descriptors only")
    private Path out;

    @Override
    public Integer call() throws IOException {
        Pooling given = Pooling.parse(pooling);
        requireOutput();
        if (batch < 1) {
            throw new IllegalArgumentException("--batch: expected at least 1, found " + batch);
        }
        if (precision != DType.F32 && precision != DType.F64) {
            throw new IllegalArgumentException("--dtype: expected f32 or f64, found " + precision);
        }
        Device device = torch.prepare();
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            Tensor maps = TensorInput.read(features, "features", precision, arena);
            requireMaps(maps);
            long channels = maps.size(1);
            Pooling resolved = given.resolve(channels, PoolParameters.images(maps));
            warn(resolved, maps);
            try (ParameterSet parameters =
                    resolved.initialize(channels, new SplittableRandom(seed), precision, device)) {
                new PoolParameters(resolved, parameters, console::say).fill(params, maps, arena);
                Tensor gradient = upstream == null ? null : TensorInput.read(upstream, "upstream", precision, arena);
                PoolRun run = new PoolRun(resolved, parameters, device, batch);
                write(run.compute(maps, gradient, console::say), resolved);
            }
            console.out()
                    .printf(
                            Locale.ROOT,
                            "%s: %d descriptors of length %d by %s%n",
                            out,
                            maps.size(0),
                            resolved.descriptorSize(channels),
                            resolved);
        }
        return ExitCode.DONE;
    }

    private void requireMaps(Tensor maps) {
        if (maps.shape().rank() != 4 || maps.shape().elements() == 0) {
            throw new IllegalArgumentException(features
                    + ": expected features [n, channels, height, width], none of them 0, found " + maps.shape());
        }
    }

    private void warn(Pooling resolved, Tensor maps) {
        resolved.warnings(maps.size(1)).forEach(console::say);
        if (maps.size(1) > 1) {
            Tensor some = maps.slice(0, 0, Math.min(CHECKED_IMAGES, maps.size(0)));
            Diagnostics.Channels channels =
                    Diagnostics.channels(some.reshape(some.size(0), some.size(1), some.size(2) * some.size(3)));
            if (channels.dead() + channels.duplicate() > 0) {
                console.say(channels.dead() + " of " + channels.channels() + " channels are zero everywhere (dead), "
                        + channels.duplicate() + " are duplicates, in the first " + some.size(0) + " images");
            }
        }
    }

    /** Returns a form, broken after a comma if it is too long for a line. */
    private static String folded(String form) {
        int comma = form.lastIndexOf(',', MAX_FORM_LENGTH);
        return form.length() <= MAX_FORM_LENGTH || comma < 0
                ? form
                : form.substring(0, comma + 1) + "\n" + " ".repeat(35) + form.substring(comma + 1);
    }

    /** Returns the stages and methods, for the end of the help. */
    public static String stages() {
        StringBuilder text = new StringBuilder("\nStages of --pooling:\n");
        for (PoolingStage.Syntax word : PoolingStage.all()) {
            text.append("  %-22s %s\n".formatted(word.name(), word.meaning()));
            if (!word.form().equals(word.name())) {
                text.append("  %-22s   syntax: %s\n".formatted("", folded(word.form())));
            }
        }
        text.append("\nMethods:\n");
        Methods.all().forEach(method -> text.append("  %-22s %s\n".formatted(method.name(), method.pooling())));
        return text.toString();
    }

    private void requireOutput() throws IOException {
        boolean npy = out.toString().endsWith(".npy");
        if (!npy && !out.toString().endsWith(".safetensors")) {
            throw new IllegalArgumentException("OUT must end with .safetensors or .npy, found " + out);
        }
        if (npy && upstream != null) {
            throw new IllegalArgumentException(
                    "gradients (--upstream) need an OUT that ends with .safetensors, found " + out);
        }
        AtomicFile.require(out);
        AtomicFile.requireOther(
                "OUT",
                out,
                Stream.of(features, params, upstream).filter(Objects::nonNull).toList());
    }

    private void write(Map<String, Tensor> results, Pooling resolved) throws IOException {
        Map<String, StoredTensor> stored = new LinkedHashMap<>();
        results.forEach((key, tensor) -> stored.put(key, StoredTensor.of(tensor)));
        if (out.toString().endsWith(".npy")) {
            Npy.write(out, Objects.requireNonNull(stored.get("descriptors")));
        } else {
            Safetensors.write(out, stored, Map.of("pooling", resolved.text(), "gramian", Version.number()));
        }
    }

    /** Descriptors and gradients of many images, a batch at a time; results are on the CPU. */
    private record PoolRun(Pooling pooling, ParameterSet parameters, Device device, int batch) {
        private static final long SECOND = 1_000_000_000L;

        /** Computes {@code descriptors}, and with an upstream gradient {@code grad.<name>} of features and parameters. */
        SequencedMap<String, Tensor> compute(Tensor features, @Nullable Tensor upstream, Consumer<String> progress) {
            requireFit(features, upstream);
            Map<String, List<Tensor>> parts = new LinkedHashMap<>();
            Map<String, Tensor> sums = new LinkedHashMap<>();
            long all = features.size(0);
            long reported = System.nanoTime();
            for (long start = 0; start < all; start += batch) {
                long end = Math.min(all, start + batch);
                Tensor part = features.slice(0, start, end);
                computeBatch(part, upstream == null ? null : upstream.slice(0, start, end), parts, sums);
                if (System.nanoTime() - reported > 2 * SECOND) {
                    reported = System.nanoTime();
                    progress.accept(end + " of " + all + " images");
                }
            }
            SequencedMap<String, Tensor> results = new LinkedHashMap<>();
            parts.forEach((name, tensors) -> results.put(name, Tensors.concat(tensors, 0)));
            results.putAll(sums);
            return results;
        }

        private void computeBatch(
                Tensor features, @Nullable Tensor upstream, Map<String, List<Tensor>> parts, Map<String, Tensor> sums) {
            try (Scope scope = Scope.open();
                    Tape tape = upstream == null ? Tape.inference() : Tape.recording()) {
                Var x = tape.variable(features.contiguous().to(device));
                Map<String, Var> variables = parameters.variables(tape);
                Var result = pooling.apply(x, Bindings.of(variables));
                add(parts, "descriptors", scope.keep(hostCopy(result.value())));
                if (upstream == null) {
                    return;
                }
                try (Gradients gradients =
                        tape.backward(result, upstream.contiguous().to(device))) {
                    add(parts, "grad.features", scope.keep(hostCopy(gradients.of(x))));
                    variables.forEach((name, variable) -> {
                        if (gradients.has(variable)) {
                            Tensor gradient = hostCopy(gradients.of(variable));
                            sums.merge("grad." + name, gradient, PoolRun::sum);
                        }
                    });
                }
                sums.values().forEach(scope::keep);
            }
        }

        private static Tensor sum(Tensor former, Tensor gradient) {
            Tensor sum = former.add(gradient);
            former.close();
            return sum;
        }

        private static Tensor hostCopy(Tensor tensor) {
            return tensor.to(Device.CPU).copy();
        }

        private static void add(Map<String, List<Tensor>> parts, String name, Tensor part) {
            parts.computeIfAbsent(name, key -> new ArrayList<>()).add(part);
        }

        private void requireFit(Tensor features, @Nullable Tensor upstream) {
            Shape wanted = Shape.of(features.size(0), pooling.descriptorSize(features.size(1)));
            if (upstream != null && !upstream.shape().equals(wanted)) {
                throw new IllegalArgumentException("the upstream gradient must have the descriptors' shape " + wanted
                        + ", found " + upstream.shape());
            }
        }
    }

    /**
     * Gives the parameters of {@code gramian pool} their values: from a file, or random; fitted ones from the features where the
     * file has none.
     */
    private record PoolParameters(Pooling pooling, ParameterSet parameters, Consumer<String> note) {
        /** Images that means and axes are fitted to at most: more add memory, not accuracy. */
        private static final int SAMPLE = 500;

        /** Largest deviation from orthonormal columns without a warning. */
        private static final double ORTHONORMAL = 1e-3;

        void fill(@Nullable Path file, Tensor features, Arena arena) throws IOException {
            Set<String> given = Set.of();
            if (file != null) {
                TensorFile stored = Safetensors.read(file, arena);
                parameters.assign(values(stored));
                given = stored.tensors().keySet();
            }
            List<Parameter> toTrain = new ArrayList<>();
            List<Parameter> toFit = new ArrayList<>();
            for (Parameter parameter : parameters.all()) {
                if (!given.contains(parameter.name())) {
                    // some of what is trained begins with a fit
                    boolean fitted = parameter.spec().role() == Role.FITTED
                            || (file == null && Fitting.isUnset(parameter.value()));
                    (fitted ? toFit : toTrain).add(parameter);
                }
            }
            if (!toTrain.isEmpty() && file != null) {
                throw new IllegalArgumentException(file + ": expected " + names(toTrain) + ", found " + given);
            }
            if (!toTrain.isEmpty()) {
                note.accept("no --params: " + names(toTrain) + " are random, seeded by --seed");
            }
            if (!toFit.isEmpty()) {
                Tensor sample = sample(features);
                note.accept("fitting " + names(toFit) + " to "
                        + (sample == features
                                ? "these features"
                                : sample.size(0) + " of the " + features.size(0) + " images"));
                Fitting.fit(pooling, sample.to(toFit.getFirst().value().device()), parameters, new SplittableRandom(0));
            }
            parameters.all().stream()
                    .filter(p -> p.spec().role() == Role.STIEFEL)
                    .forEach(this::warnIfNotOrthonormal);
        }

        /** How many images of these features are fitted to. */
        static int images(Tensor features) {
            return (int) Math.min(SAMPLE, features.size(0));
        }

        /** At most {@value #SAMPLE} images, evenly spread. */
        private static Tensor sample(Tensor features) {
            if (features.size(0) <= SAMPLE) {
                return features;
            }
            return features.select(
                    0, Tensors.ofLongs(Subsample.evenIndices(features.size(0), SAMPLE), Shape.of(SAMPLE)));
        }

        private Map<String, Tensor> values(TensorFile stored) {
            Map<String, Tensor> values = new LinkedHashMap<>();
            List<String> names = parameters.all().stream().map(Parameter::name).toList();
            stored.tensors().forEach((name, tensor) -> {
                if (!names.contains(name)) {
                    throw new IllegalArgumentException(stored.path() + ": " + pooling + ": unknown parameter '" + name
                            + "'" + NearestWord.suggestion(name, names) + "; it has " + names);
                }
                Parameter parameter = parameters.get(name);
                if (!tensor.shape().equals(parameter.spec().shape())) {
                    throw new IllegalArgumentException(stored.path() + ": " + name + " expected the shape "
                            + parameter.spec().shape() + " for these features, found " + tensor.shape());
                }
                Tensor value = tensor.toTensor();
                TensorInput.requireFinite(stored.path(), name, value);
                values.put(name, value);
            });
            return values;
        }

        private void warnIfNotOrthonormal(Parameter parameter) {
            double error = Stiefel.orthogonalityError(parameter.value());
            if (!(error <= ORTHONORMAL)) {
                note.accept(parameter.name() + " does not have orthonormal columns (max |W'W - I| = "
                        + String.format(Locale.ROOT, "%.1e", error) + "); used as given");
            }
        }

        private static String names(List<Parameter> parameters) {
            return String.join(", ", parameters.stream().map(Parameter::name).toList());
        }
    }
}
