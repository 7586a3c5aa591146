package org.gramian.cli.check;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.basis.EvenSample;
import org.gramian.basis.NearestWord;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFile;
import org.jspecify.annotations.Nullable;

/**
 * Gives the parameters of {@code gramian pool} their values: from a file, or random; fitted ones from the features where the
 * file has none.
 */
record PoolParameters(Pooling pooling, ParameterSet parameters, Consumer<String> note) {
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
                boolean fitted =
                        parameter.spec().role() == Role.FITTED || (file == null && Fitting.isUnset(parameter.value()));
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
        parameters.all().stream().filter(p -> p.spec().role() == Role.STIEFEL).forEach(this::warnIfNotOrthonormal);
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
        return features.select(0, Tensors.ofLongs(EvenSample.places(features.size(0), SAMPLE), Shape.of(SAMPLE)));
    }

    private Map<String, Tensor> values(TensorFile stored) {
        Map<String, Tensor> values = new LinkedHashMap<>();
        List<String> names = parameters.all().stream().map(Parameter::name).toList();
        stored.tensors().forEach((name, tensor) -> {
            if (!names.contains(name)) {
                throw new IllegalArgumentException(stored.path() + ": " + pooling + ": unknown parameter '" + name + "'"
                        + NearestWord.suggestion(name, names) + "; it has " + names);
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
