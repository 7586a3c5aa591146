package org.gramian.train.distill;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * The backbone that is trained, with the parameters that only distillation needs: for each match i of a layer with one of a teacher
 * a 1×1 projection of the student's maps to the teacher's channels ({@code projection.i}) and mean and standard deviation of the
 * teacher's channels ({@code target.i}), and for each teacher j a linear classifier of the averaged last maps ({@code
 * classifier.j}).
 */
final class Student implements AutoCloseable {
    /**
     * Share of the mean variance that is added to that of each channel: a channel that is constant in the measured batches and not
     * in others would have values of any size.
     */
    private static final double VARIANCE_SHARE = 0.01;

    private static final double SMALLEST_VARIANCE = 1e-12;

    /** Positions of maps up to which one product resizes them faster than two, which are many small ones on a GPU. */
    private static final int MOST_POSITIONS = 400;

    /**
     * Layers whose maps are compared.
     *
     * @param teacher index of the teacher
     * @param layer index of the layer among those of the student, and of the teacher
     */
    private record Match(int teacher, int layer) {}

    private final Backbone matched;
    private final Backbone whole;
    private final boolean scored;
    private final Backbone computed;
    private final ParameterSet backbone;
    private final ParameterSet matching;
    private final List<Teacher> teachers;
    private final List<Match> matches;
    private final DistillOptions.Losses losses;
    private final SequencedMap<Parameter, Tensor> averages = new LinkedHashMap<>();
    private final Map<List<Long>, Tensor> resizing = new HashMap<>();

    /**
     * Creates a student.
     *
     * @param matched the network, cut at the layers whose maps are matched
     * @param start weights to start from; empty for random ones
     * @throws IllegalArgumentException if the weights are those of another network or incomplete
     */
    Student(Backbone matched, Optional<Weights> start, List<Teacher> teachers, DistillOptions options, Device device) {
        this.matched = matched;
        this.whole = withoutClassifier(matched);
        this.teachers = List.copyOf(teachers);
        this.losses = options.losses();
        this.scored = losses.logits() > 0 && teachers.stream().anyMatch(teacher -> teacher.classes() > 0);
        this.computed = scored ? whole : matched.cutAt(matched.cutLayers().getLast());
        this.matches = losses.maps()
                ? IntStream.range(0, teachers.size())
                        .boxed()
                        .flatMap(teacher -> IntStream.range(
                                        0, matched.cutLayers().size())
                                .mapToObj(layer -> new Match(teacher, layer)))
                        .toList()
                : List.of();
        SplittableRandom random = new SplittableRandom(options.seed());
        SplittableRandom own = random.split();
        this.backbone = start.map(weights -> weights.load(whole, DType.F32, device))
                .orElseGet(() -> ParameterSet.initialize(whole.parameters(), own, DType.F32, device));
        this.matching = ParameterSet.initialize(matchingParameters(), random.split(), DType.F32, device);
        try (Scope scope = Scope.open()) {
            for (Parameter parameter : backbone.all()) {
                if (options.ema() > 0 && parameter.spec().role() == Role.FITTED) {
                    Tensor average = parameter.value().copy();
                    scope.release(average);
                    averages.put(parameter, average);
                }
            }
        }
    }

    /** Returns the network up to the last layer whose parameters a weight file needs for features. */
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
            if (losses.logits() > 0 && teacher.classes() > 0) {
                Shape weight = Shape.of(teacher.classes(), whole.channels());
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
        return whole;
    }

    /** Returns the network cut at the matched layers. */
    Backbone matched() {
        return matched;
    }

    ParameterSet backbone() {
        return backbone;
    }

    ParameterSet matching() {
        return matching;
    }

    /** Returns all parameters by unique names. */
    SequencedMap<String, Parameter> parameters() {
        SequencedMap<String, Parameter> all = new LinkedHashMap<>();
        backbone.all().forEach(parameter -> all.put("student." + parameter.name(), parameter));
        matching.all().forEach(parameter -> all.put("matching." + parameter.name(), parameter));
        return all;
    }

    /** Returns the moving averages of batch-norm statistics, by parameter; the optimizer averages weights alone. */
    SequencedMap<Parameter, Tensor> averages() {
        return averages;
    }

    /** Moves the averaged statistics towards the present ones: {@code a ← d·a + (1 − d)·v}. */
    void average(double decay) {
        averages.forEach((parameter, average) -> {
            try (Scope _ = Scope.open()) {
                average.copyFrom(average.mul(decay).addScaled(parameter.value(), 1 - decay));
            }
        });
    }

    /** Time during which the averages of the statistics take their place. */
    @FunctionalInterface
    interface Averages extends AutoCloseable {
        @Override
        void close();
    }

    /** Puts the averages of the statistics in their place until the result is closed. */
    Averages withAverages() {
        exchangeAverages();
        return this::exchangeAverages;
    }

    /** Exchanges statistics and their averages; a second call restores both. */
    private void exchangeAverages() {
        averages.forEach((parameter, average) -> {
            try (Scope _ = Scope.open()) {
                Tensor present = parameter.value().copy();
                parameter.value().copyFrom(average);
                average.copyFrom(present);
            }
        });
    }

    /**
     * Losses of a batch.
     *
     * @param total weighted sum, on the tape
     * @param parts total, feature, Gram and logit loss {@code [4]}, unweighted, in the current scope
     * @param variables by parameter
     */
    record Forward(Var total, Tensor parts, Map<Parameter, Var> variables) {}

    /**
     * Computes the losses of a batch by the statistics of the batch.
     *
     * @param images preprocessed {@code [n, 3, side, side]}
     * @param targets of each teacher
     */
    Forward forward(Tape tape, Tensor images, List<Teacher.Output> targets) {
        Map<String, Var> bound = backbone.variables(tape);
        Bindings bindings = Bindings.ofTraining(bound);
        Map<String, Var> own = matching.variables(tape);
        Map<String, Var> maps = new LinkedHashMap<>();
        Var last = computed.trace(tape.constant(images), bindings, (layer, value) -> {
            if (matched.cutLayers().contains(layer)) {
                maps.put(layer, value);
            }
        });
        List<Var> features = new ArrayList<>();
        List<Var> grams = new ArrayList<>();
        List<Var> logits = new ArrayList<>();
        for (int i = 0; i < matches.size(); i++) {
            Match match = matches.get(i);
            Var projected = projected(get(maps, matched.cutLayers().get(match.layer)), own, i);
            Tensor standard = standardized(targets.get(match.teacher).maps().get(match.layer), projected.shape(), i);
            if (losses.features() > 0) {
                features.add(MatchingLosses.features(projected, standard, losses.squared()));
            }
            if (losses.grams() > 0) {
                grams.add(
                        losses.cosine()
                                ? MatchingLosses.gramCosines(projected, standard)
                                : MatchingLosses.grams(projected, standard));
            }
        }
        Optional<Var> pooled = scored ? Optional.of(pooled(last)) : Optional.empty();
        for (int i = 0; i < targets.size(); i++) {
            Tensor scores = targets.get(i).scores();
            if (pooled.isPresent() && scores != null) {
                Var predicted = pooled.get()
                        .linear(get(own, "classifier." + i + ".weight"), get(own, "classifier." + i + ".bias"));
                logits.add(MatchingLosses.logits(predicted, scores, losses.temperature()));
            }
        }
        Tensor zero = Tensors.zeros(Shape.of(), DType.F32, images.device());
        List<@Nullable Var> means = new ArrayList<>();
        means.add(mean(features));
        means.add(mean(grams));
        means.add(mean(logits));
        double[] weights = {losses.features(), losses.grams(), losses.logits()};
        Var total = null;
        for (int i = 0; i < weights.length; i++) {
            Var part = means.get(i);
            if (part != null) {
                Var weighted = part.mul(weights[i]);
                total = total == null ? weighted : total.add(weighted);
            }
        }
        if (total == null) {
            throw new IllegalArgumentException(
                    "no teacher has class scores, and no other loss has a weight above 0: set --feature-weight");
        }
        List<Tensor> parts = new ArrayList<>();
        parts.add(total.value().reshape(1));
        means.forEach(part -> parts.add((part == null ? zero : part.value()).reshape(1)));
        Map<Parameter, Var> variables = new LinkedHashMap<>();
        backbone.all().forEach(parameter -> variables.put(parameter, get(bound, parameter.name())));
        matching.all().forEach(parameter -> variables.put(parameter, get(own, parameter.name())));
        return new Forward(total, Tensors.concat(parts, 0), variables);
    }

    private static Var get(Map<String, Var> variables, String name) {
        return Objects.requireNonNull(variables.get(name), name);
    }

    private static @Nullable Var mean(List<Var> parts) {
        return parts.stream()
                .reduce(Var::add)
                .map(sum -> sum.mul(1.0 / parts.size()))
                .orElse(null);
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

    /** Resizes maps bilinearly; small ones by one product with the Kronecker product of the matrices of both sides. */
    private Tensor resized(Tensor maps, long height, long width) {
        long positions = maps.size(2) * maps.size(3);
        if (maps.size(2) == height && maps.size(3) == width) {
            return maps;
        }
        if (positions <= MOST_POSITIONS) {
            try (Scope scope = Scope.open()) {
                Tensor matrix = resizing.computeIfAbsent(
                        List.of(maps.size(2), maps.size(3), height, width), sides -> matrix(sides, maps.device()));
                Tensor rows = maps.reshape(maps.size(0) * maps.size(1), positions);
                Tensor product = rows.matmul(matrix);
                return scope.keep(product.reshape(maps.size(0), maps.size(1), height, width));
            }
        }
        try (Scope scope = Scope.open();
                Tape tape = Tape.inference()) {
            return scope.keep(Interpolation.resize(tape.constant(maps), height, width)
                    .value()
                    .copy());
        }
    }

    /** Returns the matrix {@code [h·w, H·W]} that resizes maps of the sides h, w to H, W; it belongs to no scope. */
    static Tensor matrix(List<Long> sides, Device device) {
        int h = Math.toIntExact(sides.get(0));
        int w = Math.toIntExact(sides.get(1));
        int newH = Math.toIntExact(sides.get(2));
        int newW = Math.toIntExact(sides.get(3));
        double[] down = Interpolation.weights(h, newH);
        double[] across = Interpolation.weights(w, newW);
        double[] values = new double[h * w * newH * newW];
        int at = 0;
        for (int from = 0; from < h * w; from++) {
            for (int to = 0; to < newH * newW; to++) {
                values[at++] = down[to / newW * h + from / w] * across[to % newW * w + from % w];
            }
        }
        try (Scope scope = Scope.open()) {
            Tensor made = Tensors.of(values, Shape.of((long) h * w, (long) newH * newW), DType.F32)
                    .to(device);
            scope.release(made);
            return made;
        }
    }

    /**
     * Sets mean and standard deviation of the teachers' channels from batches: {@code √(v + 0.01·mean(v))} of the variances v.
     *
     * @param batches outputs of the teachers for each batch
     * @param imageSize side of the student's images
     */
    void measureTargets(List<List<Teacher.Output>> batches, int imageSize) {
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
        averages.values().forEach(Tensor::close);
        averages.clear();
        resizing.values().forEach(Tensor::close);
        resizing.clear();
    }
}
