package org.gramian.train.loop;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Result.Adjoint;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer.ParameterGroup;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.StageRecipe;

/**
 * The part of a model that a stage trains: in stage 1 the head on features, in stage 2 all layers on images. Layers of the head
 * that come from the backbone, its tail, are frozen and fine-tuned like the backbone.
 *
 * <p>The loss of a batch of n crops with scores z and targets q, both {@code [n, k]}, is {@code ℓ = −1/n Σᵢ Σⱼ qᵢⱼ log softmax(zᵢ)ⱼ}.
 *
 * @param backboneRate factor on the learning rate of the backbone and its tail
 * @param poolingRate factor on the learning rate of the head's layers before the classifier
 * @param precision of the backbone's convolutions if it is BF16; {@link TrainingStage#math} sets TF32
 */
record TrainableModel(Model model, int stage, double backboneRate, double poolingRate, Precision precision)
        implements Trainable {
    private static final String BACKBONE = "backbone";
    private static final String TAIL = "tail";
    private static final String HEAD = "head";

    /**
     * Factor of layers before a classifier whose rate follows from long descriptors, see {@link HeadInference#unitRate}. For descriptors s
     * times as long, a classifier 1/s times as large gives the same scores, so that gradients of the layers before it do not depend on
     * s. But these layers need a lower rate than a pooling that ends in l2, which bounds the scores. This value was best for iSQRT-COV on
     * validation images (docs/adr/0011), against the classifier's own rate and 1.
     */
    private static final double BEFORE_LONG = 0.01;

    static TrainableModel head(Model model, boolean perLength) {
        return new TrainableModel(model, 1, 1, perLength ? BEFORE_LONG : 1, Precision.F32);
    }

    static TrainableModel allLayers(Model model, Recipe recipe) {
        StageRecipe stage = recipe.stage2();
        return new TrainableModel(
                model, 2, stage.backboneRate(), stage.perLength() ? BEFORE_LONG : 1, recipe.precision());
    }

    /** Returns the trained parameters by part. */
    private SequencedMap<String, ParameterGroup> parts() {
        SequencedMap<String, ParameterGroup> groups = new LinkedHashMap<>();
        if (stage == 2) {
            groups.put(BACKBONE, new ParameterGroup(model.backboneParameters(), backboneRate, 1));
        }
        Set<String> tail = model.head().pretrained().keySet();
        if (stage == 2 && !tail.isEmpty()) {
            groups.put(TAIL, new ParameterGroup(model.headParameters().only(tail::contains), backboneRate, 1));
        }
        groups.put(HEAD, ParameterGroup.of(model.headParameters().only(name -> !tail.contains(name))));
        return groups;
    }

    @Override
    public List<ParameterGroup> groups(double scale) {
        List<ParameterGroup> optimized = new ArrayList<>();
        parts().forEach((part, group) -> {
            if (part.equals(HEAD)) {
                ParameterSet head = group.parameters();
                optimized.add(new ParameterGroup(head.only(name -> !isClassifier(name)), poolingRate, 1));
                optimized.add(new ParameterGroup(head.only(TrainableModel::isClassifier), scale, 1));
            } else {
                optimized.add(group);
            }
        });
        return optimized;
    }

    private static boolean isClassifier(String name) {
        return name.startsWith(Head.CLASSIFIER);
    }

    @Override
    public SequencedMap<String, Parameter> parameters() {
        SequencedMap<String, Parameter> all = new LinkedHashMap<>();
        parts().forEach((part, group) ->
                group.parameters().all().forEach(parameter -> all.put(part + "." + parameter.name(), parameter)));
        return all;
    }

    @Override
    public OptionalDouble orthogonality() {
        return parameters().values().stream()
                .filter(parameter -> parameter.spec().role() == ParameterSpec.Role.STIEFEL)
                .mapToDouble(parameter -> Stiefel.orthogonalityError(parameter.value()))
                .max();
    }

    @Override
    public Loss loss(Tape tape, Tensor input, Tensor targets, Dropout.BatchDropout dropout) {
        Map<String, Map<String, Var>> variables = new LinkedHashMap<>(); // by part; head and tail share theirs
        Var features = tape.constant(input);
        if (stage == 2) {
            Map<String, Var> backbone = model.backboneParameters().variables(tape);
            variables.put(BACKBONE, backbone);
            Var maps = model.features(images(features), Bindings.of(backbone));
            features = maps.to(DType.F32);
        }
        Set<String> frozen = stage == 1 ? model.head().pretrained().keySet() : Set.of();
        Map<String, Var> head = model.headParameters().variables(tape, frozen::contains);
        variables.put(TAIL, head);
        variables.put(HEAD, head);
        Map<String, Var> bindings = new LinkedHashMap<>(head);
        bindings.putAll(randomInputs(model, features, dropout));
        Bindings bound = Bindings.of(bindings);
        Var descriptors = dropout.apply(model.describe(features, bound));
        Var scores = model.head().classify(descriptors, bound, Head.Mode.TRAINING);
        SequencedMap<Parameter, Var> trained = new LinkedHashMap<>();
        parts().forEach((part, group) -> trained.putAll(group.variables(Objects.requireNonNull(variables.get(part)))));
        return new Loss(Classification.crossEntropy(scores, targets), scores.value(), trained);
    }

    private Var images(Var input) {
        return precision == Precision.BF16 ? input.to(DType.BF16) : input;
    }

    @Override
    public Optional<String> nonFiniteLayer(Tensor input) {
        List<String> found = new ArrayList<>();
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Var features = tape.constant(input);
            check(found, stage == 1 ? "the input features" : "the images", features);
            if (stage == 2) {
                Bindings backbone = Bindings.of(model.backboneParameters().variables(tape));
                Var maps = model.backbone()
                        .trace(
                                images(features),
                                backbone,
                                (layer, value) -> check(
                                        found,
                                        "the layer " + layer + " of "
                                                + model.backbone().name(),
                                        value));
                features = maps.to(DType.F32);
            }
            Map<String, Var> head = model.headParameters().variables(tape);
            Bindings bound = Bindings.of(head);
            Var descriptors = model.head()
                    .pooling()
                    .trace(
                            features,
                            bound.under("pooling"),
                            (layer, value) -> check(found, "the " + layer + " of the pooling", value));
            check(found, "the class scores", model.head().classify(descriptors, bound, Head.Mode.PREDICTING));
        } catch (RuntimeException failed) {
            if (found.isEmpty()) { // a decomposition may fail because of the value that was found
                throw failed;
            }
        }
        return found.stream().findFirst();
    }

    private static void check(List<String> found, String layer, Var value) {
        if (found.isEmpty() && !value.value().allFinite()) {
            found.add(layer);
        }
    }

    @Override
    public boolean isCapturable() {
        return !model.head().normalized()
                && model.head()
                        .pooling()
                        .randomInputs(model.backbone().channels())
                        .isEmpty();
    }

    /** Returns the random draws of the pooling's stages for a batch, by the names of their variables. */
    static Map<String, Var> randomInputs(Model model, Var features, Dropout.BatchDropout dropout) {
        Map<String, Long> wanted =
                model.head().pooling().randomInputs(features.shape().at(1));
        int columns = Math.toIntExact(
                wanted.values().stream().mapToLong(Long::longValue).sum());
        Map<String, Var> draws = new LinkedHashMap<>();
        if (columns > 0) {
            Tensor like = features.value();
            Var all = features.tape()
                    .apply(
                            List.of(),
                            () -> Result.of(
                                    Tensors.of(
                                                    dropout.randomInputs(columns),
                                                    Shape.of(like.size(0), columns),
                                                    like.type())
                                            .to(like.device()),
                                    (_, _) -> Adjoint.list()));
            long start = 0;
            for (Map.Entry<String, Long> stageDraws : wanted.entrySet()) {
                long end = start + stageDraws.getValue();
                draws.put("pooling." + stageDraws.getKey(), all.slice(1, start, end));
                start = end;
            }
        }
        return draws;
    }
}
