package org.gramian.research;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.research.Distillation.Options;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer.ParameterGroup;
import org.gramian.train.loop.Dropout;
import org.gramian.train.loop.Trainable;
import org.gramian.train.recipe.Recipe.Precision;

/**
 * The backbone that is trained, with the parameters that only distillation needs: for each match i of a layer with one of a teacher
 * a 1×1 projection of the student's maps to the teacher's channels ({@code projection.i}) and mean and standard deviation of the
 * teacher's channels ({@code target.i}), and for each teacher j a linear classifier of the averaged last maps ({@code
 * classifier.j}).
 */
final class Student implements Trainable, AutoCloseable {
    /** Weights of the losses, each averaged over matches or teachers. */
    private static final double FEATURE_WEIGHT = 1;

    private static final double GRAM_WEIGHT = 0.5;
    private static final double LOGIT_WEIGHT = 0.25;

    /** Temperature τ of class scores. */
    private static final double TEMPERATURE = 2;

    /**
     * Share of the mean variance that is added to that of each channel: a channel that is constant in the measured batches and not
     * in others would have values of any size.
     */
    private static final double VARIANCE_SHARE = 0.01;

    private static final double SMALLEST_VARIANCE = 1e-12;

    /**
     * Layers whose maps are compared.
     *
     * @param teacher index of the teacher
     * @param layer index of the layer among those of the student, and of the teacher
     */
    private record Match(int teacher, int layer) {}

    private final Backbone matched;
    private final Backbone savedBackbone;
    private final Backbone tracedBackbone;
    private final ParameterSet backbone;
    private final ParameterSet matching;
    private final List<Teacher> teachers;
    private final List<Match> matches;
    private final Options options;
    private final NetworkInput ownInput;
    private final List<NetworkInput> teacherInputs;

    /**
     * Creates a student.
     *
     * @param matched the network, cut at the layers whose maps are matched
     * @param start weights to start from; empty for random ones
     */
    Student(Backbone matched, Optional<Weights> start, List<Teacher> teachers, Options options, Device device) {
        this.matched = matched;
        this.savedBackbone = withoutClassifier(matched);
        this.teachers = List.copyOf(teachers);
        this.options = options;
        boolean scored = teachers.stream().anyMatch(teacher -> teacher.classes() > 0);
        this.tracedBackbone =
                scored ? savedBackbone : matched.cutAt(matched.cutLayers().getLast());
        this.matches = IntStream.range(0, teachers.size())
                .boxed()
                .flatMap(teacher ->
                        IntStream.range(0, matched.cutLayers().size()).mapToObj(layer -> new Match(teacher, layer)))
                .toList();
        SplittableRandom random = new SplittableRandom(options.seed());
        SplittableRandom own = random.split();
        this.backbone = start.map(weights -> weights.load(savedBackbone, DType.F32, device))
                .orElseGet(() -> ParameterSet.initialize(savedBackbone.parameters(), own, DType.F32, device));
        this.matching = ParameterSet.initialize(matchingParameters(), random.split(), DType.F32, device);
        DType type = options.precision() == Precision.BF16 ? DType.BF16 : DType.F32;
        this.ownInput = new NetworkInput(options.imageSize(), savedBackbone.preprocessing(), type, device);
        this.teacherInputs = teachers.stream()
                .map(teacher -> new NetworkInput(options.teacherSize(), teacher.preprocessing(), type, device))
                .toList();
    }

    /** Returns the backbone cut at its last layer before the classifier. */
    static Backbone withoutClassifier(Backbone backbone) {
        return backbone.layers().reversed().stream()
                .map(backbone::cutAt)
                .filter(cut -> cut.parameters().stream()
                        .noneMatch(spec -> backbone.classifier().contains(spec.name())))
                .findFirst()
                .orElse(backbone);
    }

    private List<ParameterSpec> matchingParameters() {
        List<ParameterSpec> specs = new ArrayList<>();
        for (int i = 0; i < matches.size(); i++) {
            Match match = matches.get(i);
            long channels = matched.channelsOfLayers().get(match.layer);
            long targets =
                    teachers.get(match.teacher).backbone().channelsOfLayers().get(match.layer);
            Shape each = Shape.of(targets);
            Initializer small = Initializer.gaussian(1 / Math.sqrt((double) channels));
            specs.add(new ParameterSpec(
                    "projection." + i + ".weight", Shape.of(targets, channels, 1, 1), Role.WEIGHT, small));
            specs.add(new ParameterSpec("projection." + i + ".bias", each, Role.BIAS, Initializer.constant(0)));
            specs.add(new ParameterSpec("target." + i + ".mean", each, Role.FITTED, Initializer.constant(0)));
            specs.add(new ParameterSpec("target." + i + ".deviation", each, Role.FITTED, Initializer.constant(1)));
        }
        for (int i = 0; i < teachers.size(); i++) {
            Teacher teacher = teachers.get(i);
            if (teacher.classes() > 0) {
                Shape weight = Shape.of(teacher.classes(), savedBackbone.channels());
                specs.add(new ParameterSpec(
                        "classifier." + i + ".weight", weight, Role.WEIGHT, Initializer.gaussian(0.01)));
                specs.add(new ParameterSpec(
                        "classifier." + i + ".bias", Shape.of(weight.at(0)), Role.BIAS, Initializer.constant(0)));
            }
        }
        return specs;
    }

    /** Returns the network whose weights are the result. */
    Backbone network() {
        return savedBackbone;
    }

    ParameterSet backbone() {
        return backbone;
    }

    @Override
    public SequencedMap<String, Parameter> parameters() {
        SequencedMap<String, Parameter> all = new LinkedHashMap<>();
        backbone.all().forEach(parameter -> all.put("student." + parameter.name(), parameter));
        matching.all().forEach(parameter -> all.put("matching." + parameter.name(), parameter));
        return all;
    }

    @Override
    public List<ParameterGroup> groups(double scale) {
        return List.of(ParameterGroup.of(backbone), ParameterGroup.of(matching));
    }

    /** Returns whether a step can be captured: nothing in it needs the host. */
    @Override
    public boolean isCapturable() {
        return true;
    }

    @Override
    public Optional<String> nonFiniteLayer(Tensor crops) {
        List<String> found = new ArrayList<>();
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            tracedBackbone.trace(
                    tape.constant(ownInput.of(crops)), Bindings.of(backbone.variables(tape)), (layer, value) -> {
                        if (found.isEmpty() && !value.value().allFinite()) {
                            found.add("the layer " + layer + " of " + savedBackbone.name());
                        }
                    });
        }
        return found.stream().findFirst();
    }

    /**
     * Computes the loss of a batch by the statistics of the batch. There are no classes: all scores are 0.
     *
     * @param crops RGB bytes {@code [n, 3, side, side]} as float32
     */
    @Override
    public Loss loss(Tape tape, Tensor crops, Tensor targets, Dropout.BatchDropout dropout) {
        List<Teacher.Output> outputs = outputs(crops);
        Map<String, Var> bound = backbone.variables(tape);
        Map<String, Var> own = matching.variables(tape);
        Map<String, Var> maps = new LinkedHashMap<>();
        Var last =
                tracedBackbone.trace(tape.constant(ownInput.of(crops)), Bindings.ofTraining(bound), (layer, value) -> {
                    if (matched.cutLayers().contains(layer)) {
                        maps.put(layer, value);
                    }
                });
        List<Var> features = new ArrayList<>();
        List<Var> grams = new ArrayList<>();
        for (int i = 0; i < matches.size(); i++) {
            Match match = matches.get(i);
            Var projected = projected(get(maps, matched.cutLayers().get(match.layer)), own, i);
            Tensor standard = standardized(outputs.get(match.teacher).maps().get(match.layer), projected.shape(), i);
            features.add(MatchingLosses.features(projected, standard));
            grams.add(
                    options.cosine()
                            ? MatchingLosses.gramCosines(projected, standard)
                            : MatchingLosses.grams(projected, standard));
        }
        Var total = mean(features).mul(FEATURE_WEIGHT).add(mean(grams).mul(GRAM_WEIGHT));
        List<Var> logits = new ArrayList<>();
        for (int i = 0; i < outputs.size(); i++) {
            Tensor scores = outputs.get(i).scores();
            if (scores != null) {
                Var predicted = pooled(last)
                        .linear(get(own, "classifier." + i + ".weight"), get(own, "classifier." + i + ".bias"));
                logits.add(MatchingLosses.logits(predicted, scores, TEMPERATURE));
            }
        }
        if (!logits.isEmpty()) {
            total = total.add(mean(logits).mul(LOGIT_WEIGHT));
        }
        SequencedMap<Parameter, Var> variables = new LinkedHashMap<>();
        backbone.all().forEach(parameter -> variables.put(parameter, get(bound, parameter.name())));
        matching.all().forEach(parameter -> variables.put(parameter, get(own, parameter.name())));
        return new Loss(total, Tensors.zeros(Shape.of(crops.size(0), 1), DType.F32, crops.device()), variables);
    }

    private List<Teacher.Output> outputs(Tensor crops) {
        List<Teacher.Output> outputs = new ArrayList<>();
        for (int i = 0; i < teachers.size(); i++) {
            try (Scope scope = Scope.open()) {
                outputs.add(
                        teachers.get(i).apply(teacherInputs.get(i).of(crops)).keptBy(scope));
            }
        }
        return outputs;
    }

    private static Var get(Map<String, Var> variables, String name) {
        return Objects.requireNonNull(variables.get(name), name);
    }

    private static Var mean(List<Var> parts) {
        return parts.stream().reduce(Var::add).orElseThrow().mul(1.0 / parts.size());
    }

    /** Averages the last maps, {@code [n, c]} in float32. */
    private static Var pooled(Var last) {
        Var exact = last.to(DType.F32);
        Var averaged = exact.shape().at(2) == 1 ? exact : FeatureMaps.globalAveragePool(exact);
        return averaged.reshape(averaged.shape().at(0), averaged.shape().at(1));
    }

    private static Var projected(Var maps, Map<String, Var> own, int i) {
        Var weight = get(own, "projection." + i + ".weight");
        Var bias = get(own, "projection." + i + ".bias");
        return FeatureMaps.convolve(maps, weight, bias, Convolution.plain()).to(DType.F32);
    }

    /** Resizes maps of a teacher to the grid of the student and standardizes their channels. */
    private Tensor standardized(Tensor maps, Shape grid, int i) {
        Shape perChannel = Shape.of(1, maps.size(1), 1, 1);
        Tensor mean = matching.get("target." + i + ".mean").value().reshape(perChannel.sizes());
        Tensor deviation = matching.get("target." + i + ".deviation").value().reshape(perChannel.sizes());
        return resized(maps, grid.at(2), grid.at(3)).sub(mean).div(deviation);
    }

    private static Tensor resized(Tensor maps, long height, long width) {
        if (maps.size(2) == height && maps.size(3) == width) {
            return maps;
        }
        try (Scope scope = Scope.open();
                Tape tape = Tape.inference()) {
            return scope.keep(Interpolation.resize(tape.constant(maps), height, width)
                    .value()
                    .copy());
        }
    }

    /**
     * Sets mean and standard deviation of the teachers' channels from batches: {@code √(v + 0.01·mean(v))} of the variances v.
     *
     * @param crops of each batch, RGB bytes {@code [n, 3, side, side]} as float32
     */
    void measureTargets(List<Tensor> crops) {
        List<List<Teacher.Output>> batches = crops.stream().map(this::outputs).toList();
        int imageSize = options.imageSize();
        for (int i = 0; i < matches.size(); i++) {
            Match match = matches.get(i);
            Shape grid = matched.cutAt(matched.cutLayers().get(match.layer)).features(imageSize, imageSize);
            try (Scope _ = Scope.open()) {
                List<Tensor> all = batches.stream()
                        .map(batch -> batch.get(match.teacher).maps().get(match.layer))
                        .map(maps -> resized(maps, grid.at(1), grid.at(2)))
                        .toList();
                double count = all.stream()
                                .mapToDouble(maps -> maps.shape().elements())
                                .sum()
                        / all.getFirst().size(1);
                Tensor mean = scaled(all.stream().map(maps -> maps.sum(0, 2, 3)).toList(), 1 / count);
                Tensor variance = scaled(
                        all.stream()
                                .map(maps -> maps.sub(mean))
                                .map(centred -> centred.mul(centred).sum(0, 2, 3))
                                .toList(),
                        1 / count);
                Parameter means = matching.get("target." + i + ".mean");
                Parameter deviations = matching.get("target." + i + ".deviation");
                means.value().copyFrom(mean.reshape(means.spec().shape().sizes()));
                Tensor bound = variance.mean().mul(VARIANCE_SHARE).add(SMALLEST_VARIANCE);
                deviations
                        .value()
                        .copyFrom(variance.add(bound)
                                .sqrt()
                                .reshape(deviations.spec().shape().sizes()));
            }
        }
    }

    private static Tensor scaled(List<Tensor> sums, double factor) {
        return sums.stream().reduce(Tensor::add).orElseThrow().mul(factor);
    }

    @Override
    public void close() {
        backbone.close();
        matching.close();
        ownInput.close();
        teacherInputs.forEach(NetworkInput::close);
    }
}
