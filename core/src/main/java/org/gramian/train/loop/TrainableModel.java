package org.gramian.train.loop;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.ParameterGroup;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.StageRecipe;

/**
 * The part of a model that a stage trains: in stage 1 the head on features, in stage 2 all layers on images. Layers of the head
 * that come from the backbone, its tail, are frozen and fine-tuned like the backbone.
 *
 * @param model the model
 * @param stage 1 or 2
 * @param backboneRate factor on the learning rate of the backbone and its tail
 * @param layerDecay factor on that for each stage of the backbone between a parameter and the cut; 1 for none
 * @param precision of the backbone's convolutions if it is BF16; {@link TrainingStage#math} sets TF32
 */
record TrainableModel(Model model, int stage, double backboneRate, double layerDecay, Precision precision) {
    static final String BACKBONE = "backbone";
    static final String TAIL = "tail";
    static final String HEAD = "head";

    /** Trains all of the backbone at one learning rate. */
    TrainableModel(Model model, int stage, double backboneRate, Precision precision) {
        this(model, stage, backboneRate, 1, precision);
    }

    /**
     * Result of a forward pass.
     *
     * @param scores {@code [n, k]}
     * @param variables of each part, by the names of the parameters; head and tail share theirs
     */
    record Forward(Var scores, Map<String, Map<String, Var>> variables) {}

    /** Returns the trained parameters by part. */
    SequencedMap<String, ParameterGroup> groups() {
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

    /**
     * Returns the parameter groups of the optimizer, each with one learning rate.
     *
     * @param rates factors on the learning rates of the head
     */
    List<ParameterGroup> optimizedGroups(HeadRates rates) {
        List<ParameterGroup> optimized = new ArrayList<>();
        groups().forEach((part, group) -> {
            if (part.equals(HEAD)) {
                ParameterSet head = group.parameters();
                optimized.add(new ParameterGroup(head.only(name -> !isClassifier(name)), rates.pooling(), 1));
                optimized.add(new ParameterGroup(head.only(TrainableModel::isClassifier), rates.classifier(), 1));
            } else if (part.equals(BACKBONE) && layerDecay != 1) {
                optimized.addAll(byDepth(group));
            } else {
                optimized.add(group);
            }
        });
        return optimized;
    }

    /**
     * Splits the backbone by stages: k stages with parameters before the last one, the learning rate is multiplied by
     * {@code layerDecay^k} (Clark et al., ELECTRA, 2020).
     */
    private List<ParameterGroup> byDepth(ParameterGroup backbone) {
        List<ParameterGroup> groups = new ArrayList<>();
        double factor = 1;
        for (Set<String> names : model.backbone().parameterNames().reversed()) {
            ParameterSet stageParameters = backbone.parameters().only(names::contains);
            groups.add(new ParameterGroup(stageParameters, backbone.rate() * factor, backbone.decay()));
            factor *= layerDecay;
        }
        return groups.reversed();
    }

    private static boolean isClassifier(String name) {
        return name.startsWith(Head.CLASSIFIER);
    }

    /** Returns all trained parameters, fitted ones included, named {@code part.name}. */
    SequencedMap<String, Parameter> parameters() {
        SequencedMap<String, Parameter> all = new LinkedHashMap<>();
        groups().forEach((part, group) ->
                group.parameters().all().forEach(parameter -> all.put(part + "." + parameter.name(), parameter)));
        return all;
    }

    /** Returns the largest {@code max |WᵀW − I|} of the parameters on a Stiefel manifold; empty if there are none. */
    OptionalDouble orthogonality() {
        return parameters().values().stream()
                .filter(parameter -> parameter.spec().role() == ParameterSpec.Role.STIEFEL)
                .mapToDouble(parameter -> Stiefel.orthogonalityError(parameter.value()))
                .max();
    }

    /**
     * Computes class scores of features or images.
     *
     * @param input features {@code [n, c, h, w]} in stage 1, images {@code [n, 3, h, w]} in stage 2
     * @param dropout of descriptors {@code [n, d]} and of stages of the pooling
     */
    Forward forward(Tape tape, Tensor input, Dropout.OfBatch dropout) {
        Map<String, Map<String, Var>> variables = new LinkedHashMap<>();
        Var features = tape.constant(input);
        if (stage == 2) {
            Map<String, Var> backbone = model.backboneParameters().variables(tape);
            variables.put(BACKBONE, backbone);
            Var images = precision == Precision.BF16 ? features.to(DType.BF16) : features;
            Var maps = model.features(images, Bindings.of(backbone));
            features = maps.to(DType.F32);
        }
        Set<String> tail = stage == 1 ? model.head().pretrained().keySet() : Set.of();
        Map<String, Var> head = model.headParameters().variables(tape, tail::contains);
        variables.put(TAIL, head);
        variables.put(HEAD, head);
        Map<String, Var> bindings = new LinkedHashMap<>(head);
        bindings.putAll(draws(model, features, dropout));
        Bindings bound = Bindings.of(bindings);
        Var descriptors = dropout.apply(model.describe(features, bound));
        Var scores = model.head().classify(descriptors, bound, Head.Mode.TRAINING);
        return new Forward(scores, variables);
    }

    /** Returns whether stages of the pooling drop channels by themselves. */
    boolean drawsAtRandom() {
        return !model.head().pooling().draws(model.backbone().channels()).isEmpty();
    }

    /** Returns the random draws of the pooling's stages for a batch, by the names of their variables. */
    static Map<String, Var> draws(Model model, Var features, Dropout.OfBatch dropout) {
        Map<String, Long> wanted = model.head().pooling().draws(features.shape().at(1));
        int columns = Math.toIntExact(
                wanted.values().stream().mapToLong(Long::longValue).sum());
        Map<String, Var> draws = new LinkedHashMap<>();
        if (columns > 0) {
            Tensor like = features.value();
            Var all = features.tape()
                    .apply(
                            List.of(),
                            () -> Result.of(
                                    Tensors.of(dropout.draws(columns), Shape.of(like.size(0), columns), like.type())
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

    /** Finds the first non-finite value of a step. */
    NonFinite origin(Tensor input, Tensor targets) {
        if (stage == 1) {
            return NonFiniteSearch.find(model, NonFiniteSearch.Batch.FEATURES, input, targets);
        }
        Tensor images = precision == Precision.BF16 ? input.to(DType.BF16) : input;
        return NonFiniteSearch.find(model, NonFiniteSearch.Batch.IMAGES, images, targets);
    }

    /**
     * Factors on the learning rates of a head, which differ from 1 for long descriptors.
     *
     * <p>That of the classifier follows from their length, see {@link HeadInference#unitRate}. For descriptors s times as long, a classifier
     * 1/s times as large gives the same scores, so that gradients of the layers before it do not depend on s. But these layers need a
     * lower rate than a pooling that ends in l2, which bounds the scores. {@value #BEFORE_LONG} was best for iSQRT-COV on validation
     * images (docs/adr/0011), against the classifier's own rate and 1.
     *
     * @param pooling factor of the layers before the classifier
     * @param classifier factor of the classifier
     */
    record HeadRates(double pooling, double classifier) {
        private static final double BEFORE_LONG = 0.01;

        /** Returns the factors of a stage. */
        static HeadRates of(StageRecipe stage, TrainingProgress progress) {
            return new HeadRates(stage.perLength() ? BEFORE_LONG : 1, progress.scale());
        }
    }
}
