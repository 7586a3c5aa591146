package org.gramian.cli;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.NearestWord;
import org.gramian.pooling.Pooling;
import org.gramian.spd.Stiefel;
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
    /** How far from orthonormal columns a weight may be without a word. */
    private static final double ORTHONORMAL = 1e-3;

    void fill(@Nullable Path file, Tensor features, Arena arena) throws IOException {
        List<Parameter> unfilled = new ArrayList<>(parameters.all());
        if (file != null) {
            TensorFile stored = Safetensors.read(file, arena);
            parameters.assign(values(stored));
            unfilled.removeIf(parameter -> stored.tensors().containsKey(parameter.name()));
            requireTrained(stored, unfilled);
        }
        if (unfilled.stream().anyMatch(parameter -> parameter.spec().role() != Role.FITTED)) {
            note.accept("no --params: " + names(unfilled) + " are random, by --seed");
        }
        if (Fitting.isNeeded(pooling) && !unfilled.isEmpty()) {
            note.accept("fitting "
                    + names(unfilled.stream()
                            .filter(parameter -> parameter.spec().role() == Role.FITTED)
                            .toList())
                    + " to these features");
            Tensor sample = Tensors.to(features, unfilled.getFirst().value().device());
            Fitting.fit(pooling, sample, parameters);
        }
        parameters.all().stream().filter(p -> p.spec().role() == Role.STIEFEL).forEach(this::lookAtColumns);
    }

    private Map<String, Tensor> values(TensorFile stored) {
        Map<String, Tensor> values = new LinkedHashMap<>();
        List<String> names = parameters.all().stream().map(Parameter::name).toList();
        stored.tensors().forEach((name, tensor) -> {
            if (!names.contains(name)) {
                throw new IllegalArgumentException(stored.path() + ": " + pooling + " has no parameter '" + name + "'"
                        + NearestWord.suggestion(name, names) + " It has " + names);
            }
            Parameter parameter = parameters.get(name);
            if (!tensor.shape().equals(parameter.spec().shape())) {
                throw new IllegalArgumentException(stored.path() + ": " + name + " must have the shape "
                        + parameter.spec().shape() + " for these features, found " + tensor.shape());
            }
            values.put(name, tensor.toTensor());
        });
        return values;
    }

    private static void requireTrained(TensorFile stored, List<Parameter> unfilled) {
        List<Parameter> missing = unfilled.stream()
                .filter(parameter -> parameter.spec().role() != Role.FITTED)
                .toList();
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException(stored.path() + ": " + names(missing) + " are missing; found "
                    + stored.tensors().keySet());
        }
    }

    private void lookAtColumns(Parameter parameter) {
        double error = Stiefel.orthogonalityError(parameter.value());
        if (!(error <= ORTHONORMAL)) {
            note.accept(parameter.name() + " does not have orthonormal columns (max |W'W - I| = "
                    + String.format(Locale.ROOT, "%.1e", error) + "); it is used as it is");
        }
    }

    private static String names(List<Parameter> parameters) {
        return String.join(", ", parameters.stream().map(Parameter::name).toList());
    }
}
