package org.gramian.cli.command;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Subsample;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.Version;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.PoolingStage;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Npy;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
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
    /** Images that parameters are fitted to at most: more add memory, not accuracy. */
    private static final int FITTED_TO = 500;

    /** Characters of a stage's form that fit on a line of the help. */
    private static final int MAX_FORM_LENGTH = 72;

    private static final String NPY = ".npy";

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
        requireOptions();
        Device device = torch.prepare();
        try (Arena arena = Arena.ofShared();
                Scope _ = Scope.open()) {
            Tensor maps = read(features, "features", arena);
            if (maps.shape().rank() != 4 || maps.shape().elements() == 0) {
                throw new IllegalArgumentException(features
                        + ": expected features [n, channels, height, width], none of them 0, found " + maps.shape());
            }
            Pooling resolved = given.resolve(maps.size(1), (int) Math.min(FITTED_TO, maps.size(0)));
            resolved.warnings(maps.size(1)).forEach(console::say);
            long length = resolved.descriptorSize(maps.size(1));
            try (ParameterSet parameters =
                    resolved.initialize(maps.size(1), new SplittableRandom(seed), precision, device)) {
                setParameters(resolved, parameters, maps, arena);
                Tensor gradient = upstream == null ? null : read(upstream, "upstream", arena);
                Shape wanted = Shape.of(maps.size(0), length);
                if (gradient != null && !gradient.shape().equals(wanted)) {
                    throw new IllegalArgumentException("'upstream' must have the descriptors' shape " + wanted
                            + " of these 'features', found " + gradient.shape());
                }
                write(compute(resolved, parameters, maps, gradient, device), resolved);
            }
            console.out()
                    .printf(
                            Locale.ROOT,
                            "%s: %d descriptors of length %d by %s%n",
                            out,
                            maps.size(0),
                            length,
                            resolved);
        }
        return ExitCode.DONE;
    }

    private void requireOptions() throws IOException {
        boolean npy = out.toString().endsWith(NPY);
        if (!npy && !out.toString().endsWith(".safetensors")) {
            throw new IllegalArgumentException("OUT must end with .safetensors or .npy, found " + out);
        }
        if (npy && upstream != null) {
            throw new IllegalArgumentException(
                    "gradients (--upstream) need an OUT that ends with .safetensors, found " + out);
        }
        if (batch < 1) {
            throw new IllegalArgumentException("--batch: expected at least 1, found " + batch);
        }
        if (precision != DType.F32 && precision != DType.F64) {
            throw new IllegalArgumentException("--dtype: expected f32 or f64, found " + precision);
        }
        AtomicFile.require(
                "OUT",
                out,
                Stream.of(features, params, upstream).filter(Objects::nonNull).toList());
    }

    /** Reads the tensor of a {@code .npy} file, or that of a name from a {@code .safetensors} file. */
    private Tensor read(Path file, String name, Arena arena) throws IOException {
        StoredTensor stored = file.toString().endsWith(NPY)
                ? Npy.read(file, arena)
                : Safetensors.read(file, arena).get(name);
        return finite(file, name, stored.toTensor().to(precision));
    }

    /** Rejects NaN and infinity, naming the first. */
    private static Tensor finite(Path file, String name, Tensor tensor) {
        if (tensor.allFinite()) {
            return tensor;
        }
        float[] values = tensor.toFloats();
        int first = 0;
        while (Float.isFinite(values[first])) {
            first++;
        }
        long[] place = tensor.shape().sizes();
        long rest = first;
        for (int i = place.length - 1; i >= 0; i--) {
            long size = place[i];
            place[i] = rest % size;
            rest /= size;
        }
        throw new IllegalArgumentException(file + ": " + name + " must be finite numbers, found " + values[first]
                + " at " + Arrays.toString(place) + " of " + tensor.shape());
    }

    /** Sets parameters from the file, fits those that are fitted, and leaves the others random if there is no file. */
    private void setParameters(Pooling resolved, ParameterSet parameters, Tensor maps, Arena arena) throws IOException {
        Set<String> given = Set.of();
        if (params != null) {
            Map<String, StoredTensor> stored = Safetensors.read(params, arena).tensors();
            Map<String, Tensor> values = new LinkedHashMap<>();
            stored.forEach((name, tensor) -> values.put(name, finite(params, name, tensor.toTensor())));
            parameters.assign(values);
            given = stored.keySet();
        }
        List<String> random = new ArrayList<>();
        List<String> fitted = new ArrayList<>();
        for (Parameter parameter : parameters.all()) {
            if (!given.contains(parameter.name())) {
                // some of what is trained begins with a fit
                boolean fit = parameter.spec().role() == Role.FITTED
                        || (params == null && Fitting.isUnset(parameter.value()));
                (fit ? fitted : random).add(parameter.name());
            }
        }
        if (!random.isEmpty()) {
            if (params != null) {
                throw new IllegalArgumentException(params + ": expected " + random + ", found " + given);
            }
            console.say("no --params: " + random + " are random, seeded by --seed");
        }
        if (!fitted.isEmpty()) {
            console.say("fitting " + fitted + " to these features");
            Tensor sample = maps.size(0) <= FITTED_TO
                    ? maps
                    : maps.select(
                            0, Tensors.ofLongs(Subsample.evenIndices(maps.size(0), FITTED_TO), Shape.of(FITTED_TO)));
            Device device = parameters.get(fitted.getFirst()).value().device();
            Fitting.fit(resolved, sample.to(device), parameters, new SplittableRandom(0));
        }
    }

    /**
     * Computes {@code descriptors}, and with an upstream gradient {@code grad.<name>} of features and parameters, a batch at a
     * time. Results are on the CPU.
     */
    private Map<String, Tensor> compute(
            Pooling resolved, ParameterSet parameters, Tensor maps, @Nullable Tensor gradient, Device device) {
        List<Tensor> descriptors = new ArrayList<>();
        List<Tensor> ofFeatures = new ArrayList<>();
        Map<String, Tensor> sums = new LinkedHashMap<>();
        for (long start = 0; start < maps.size(0); start += batch) {
            long end = Math.min(maps.size(0), start + batch);
            try (Scope scope = Scope.open();
                    Tape tape = gradient == null ? Tape.inference() : Tape.recording()) {
                Var x = tape.variable(maps.slice(0, start, end).contiguous().to(device));
                Map<String, Var> variables = parameters.variables(tape);
                Var result = resolved.apply(x, Bindings.of(variables));
                descriptors.add(scope.keep(onHost(result.value())));
                if (gradient == null) {
                    continue;
                }
                Tensor part = gradient.slice(0, start, end).contiguous().to(device);
                try (Gradients gradients = tape.backward(result, part)) {
                    ofFeatures.add(scope.keep(onHost(gradients.of(x))));
                    variables.forEach((name, variable) -> {
                        if (gradients.has(variable)) {
                            sums.merge("grad." + name, onHost(gradients.of(variable)), PoolCommand::sum);
                        }
                    });
                }
                sums.values().forEach(scope::keep);
            }
        }
        Map<String, Tensor> results = new LinkedHashMap<>();
        results.put("descriptors", Tensors.concat(descriptors, 0));
        if (gradient != null) {
            results.put("grad.features", Tensors.concat(ofFeatures, 0));
        }
        results.putAll(sums);
        return results;
    }

    private static Tensor onHost(Tensor tensor) {
        return tensor.to(Device.CPU).copy();
    }

    private static Tensor sum(Tensor former, Tensor gradient) {
        Tensor sum = former.add(gradient);
        former.close();
        return sum;
    }

    private void write(Map<String, Tensor> results, Pooling resolved) throws IOException {
        Map<String, StoredTensor> stored = new LinkedHashMap<>();
        results.forEach((key, tensor) -> stored.put(key, StoredTensor.of(tensor)));
        if (out.toString().endsWith(NPY)) {
            Npy.write(out, Objects.requireNonNull(stored.get("descriptors")));
        } else {
            Safetensors.write(out, stored, Map.of("pooling", resolved.text(), "gramian", Version.number()));
        }
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

    /** Returns a form, broken after a comma if it is too long for a line. */
    private static String folded(String form) {
        int comma = form.lastIndexOf(',', MAX_FORM_LENGTH);
        return form.length() <= MAX_FORM_LENGTH || comma < 0
                ? form
                : form.substring(0, comma + 1) + "\n" + " ".repeat(35) + form.substring(comma + 1);
    }
}
