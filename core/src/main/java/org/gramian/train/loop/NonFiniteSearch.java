package org.gramian.train.loop;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.BiConsumer;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.train.loop.NonFinite.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Repeats a step value by value to find the first one that is NaN or infinite, without changing the model.
 *
 * <p>The order is that of the computation: targets, parameters, the batch, each layer of the backbone, each stage of the pooling,
 * scores, loss, gradients.
 */
final class NonFiniteSearch {
    /** Content of a batch. */
    enum Batch {
        /** Images {@code [n, 3, h, w]} in the type of the backbone. */
        IMAGES,
        /** Features {@code [n, c, h, w]} of the backbone. */
        FEATURES
    }

    /** Running statistics of batch normalization show a non-finite value, but are never its origin. */
    private static final String STATISTICS = "norm.running_";

    private final Model model;
    private final Batch kind;
    private final Tensor targets;
    private String before = "";
    private double largest;
    private @Nullable NonFinite found;

    private NonFiniteSearch(Model model, Batch kind, Tensor targets) {
        this.model = model;
        this.kind = kind;
        this.targets = targets;
    }

    /**
     * Finds the first non-finite value of a step.
     *
     * @param batch images or features on the model's device
     * @param targets of the loss {@code [n, k]}
     */
    static NonFinite find(Model model, Batch kind, Tensor batch, Tensor targets) {
        NonFiniteSearch search = new NonFiniteSearch(model, kind, targets);
        try (Scope _ = Scope.open()) {
            search.checkInputs(batch);
            if (search.found == null) {
                search.checkStep(batch, Tape.inference());
            }
            if (search.found == null) {
                search.checkStep(batch, Tape.recording());
            }
        }
        return search.found != null ? search.found : new NonFinite(Kind.NOWHERE, "", "", 0);
    }

    /** Checks targets, parameters and the batch. */
    private void checkInputs(Tensor batch) {
        see(Kind.TARGETS, "the targets", targets);
        before = ""; // the following values do not depend on them
        if (kind == Batch.IMAGES) {
            parameters("backbone", model.backboneParameters());
        }
        parameters("head", model.headParameters());
        before = "";
        see(Kind.INPUT, kind == Batch.IMAGES ? "the images" : "the input features", batch);
    }

    private void parameters(String part, ParameterSet parameters) {
        List<String> broken = parameters.all().stream()
                .filter(parameter -> !parameter.name().startsWith(STATISTICS))
                .filter(parameter -> !parameter.value().allFinite())
                .map(Parameter::name)
                .toList();
        if (!broken.isEmpty() && found == null) {
            String others = broken.size() == 1 ? "" : " and " + (broken.size() - 1) + " more of its parameters";
            found = new NonFinite(Kind.PARAMETER, broken.getFirst() + " of the " + part + others, "", 0);
        }
    }

    /** Checks the forward pass and, on a recording tape, the backward pass. */
    private void checkStep(Tensor batch, Tape owned) {
        try (Tape tape = owned) {
            SequencedMap<String, Var> backbone = model.backboneParameters().variables(tape);
            Set<String> frozen =
                    kind == Batch.FEATURES ? model.head().pretrained().keySet() : Set.of();
            SequencedMap<String, Var> head = model.headParameters().variables(tape, frozen::contains);
            head.replaceAll((name, variable) ->
                    name.startsWith(STATISTICS) ? tape.constant(variable.value().copy()) : variable);
            Var loss = loss(tape.constant(batch), Bindings.of(backbone), Bindings.of(head));
            if (found == null && loss.wantsGradient()) {
                try (Gradients gradients = tape.backward(loss)) {
                    Map<String, Var> all = new LinkedHashMap<>();
                    backbone.forEach((name, variable) -> all.put(name + " of the backbone", variable));
                    head.forEach((name, variable) -> all.put(name + " of the head", variable));
                    gradients(gradients, all);
                }
            }
        } catch (RuntimeException failed) {
            if (found == null) { // a decomposition may fail because of the value that was found
                throw failed;
            }
        }
    }

    private Var loss(Var batch, Bindings backbone, Bindings head) {
        Var features = batch;
        if (kind == Batch.IMAGES) {
            String network = model.backbone().name();
            features = model.backbone()
                    .trace(batch, backbone, seeing(Kind.BACKBONE, "the layer ", " of " + network))
                    .to(DType.F32);
        }
        Var descriptors = model.head()
                .pooling()
                .trace(features, head.under("pooling"), seeing(Kind.POOLING, "the ", " of the pooling"));
        Head plain = new Head(model.head().pooling(), model.head().classes(), false);
        Var scores = plain.classify(descriptors, head, Head.Mode.TRAINING);
        see(Kind.SCORES, "the class scores", scores.value());
        if (model.head().normalized()) {
            scores = model.head().classify(descriptors, head, Head.Mode.TRAINING);
            see(Kind.SCORES, "the normalized class scores", scores.value());
        }
        Var loss = Classification.crossEntropy(scores, targets);
        see(Kind.LOSS, "the loss", loss.value());
        return loss;
    }

    private BiConsumer<String, Var> seeing(Kind sort, String article, String of) {
        return (stage, value) -> see(sort, article + stage + of, value.value());
    }

    private void see(Kind sort, String place, Tensor value) {
        if (found != null) {
            return;
        }
        if (!value.allFinite()) {
            found = new NonFinite(sort, place, before, largest);
        }
        before = place;
        largest = value.largestMagnitude();
    }

    /** Checks gradients in the order of the backward pass: the last parameter first. */
    private void gradients(Gradients gradients, Map<String, Var> variables) {
        for (String name : new ArrayList<>(variables.keySet()).reversed()) {
            Var variable = variables.get(name);
            if (variable != null && gradients.has(variable)) {
                see(Kind.GRADIENT, "the gradient of " + name, gradients.of(variable));
            }
        }
    }
}
