package org.gramian.train.loop;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.image.dataset.Sample;
import org.gramian.linear.CrossValidation;
import org.gramian.linear.LabelledRows;
import org.gramian.linear.Lda;
import org.gramian.linear.LinearSolver;
import org.gramian.linear.RowProducts;
import org.gramian.linear.Svm;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.HeadCandidate;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.feature.FrozenBackbone;

/**
 * Selects pooling and classifier for a dataset: cross-validates candidates on frozen features of training images, near-duplicates in one
 * fold. The test set is not used.
 *
 * <p>Candidates are first-order and second-order poolings of the layers of the cut under linear discriminant analysis ({@link Lda}),
 * and joins: the best pooling joined with every other, then the best pair with a third. The Gram matrix of joined descriptors is the sum
 * of their Gram matrices, so that joins need no further features. Poolings that are far behind on a third of the images are dropped there, but for the
 * best of each layer: on few images an early layer seems poor, though some classes need it. The candidate of the shortest descriptor within one standard error of the best is selected (Breiman et al., Classification and Regression Trees,
 * 1984, section 3.4.3), with an SVM in place of LDA if its accuracy is higher by more than one standard error.
 */
public record HeadSearch(
        TrainingData data, TrainingContext context, int classes, Optional<LinearSolver> solver, long seed) {
    /** Value of the pooling option that selects this search. */
    public static final String AUTO = "auto";

    /** File of the result in a fold's folder. */
    public static final String FILE = "candidates.json";

    /** Root mean square norm of the centred descriptors of the selected pooling: the same learning rate then works for all poolings. */
    private static final double LENGTH = 5;

    /** More channels are reduced by PCA before second-order pooling. */
    private static final long MAX_CHANNELS = 320;

    /** B-CNN of more channels uses a sketch: the descriptor would exceed 131,328 elements. */
    private static final long MAX_BILINEAR_CHANNELS = 512;

    private static final int FEWEST_IMAGES = 1000;
    private static final int MAX_IMAGES = 2000;

    /** Fewest images of a first comparison under a time budget, which tells whether there is time for all images. */
    private static final int FEWEST_IN_TIME = 100;

    private static final int IMAGES_PER_CLASS = 10;
    private static final int MAX_JOINED = 3;

    /** Poolings this many standard errors behind the best on the first images are dropped; a nearer one may win on more images. */
    private static final double FAR_BEHIND = 6;

    private static final int BATCH = 32;

    /** Backbones whose layers behind the cut are convolutions with average pooling. */
    private static final Set<String> USEFUL_TAILS = Set.of("efficientnet-lite4", "googlenet");

    public record Result(List<HeadCandidate> entries, int images) {
        public Result {
            entries = List.copyOf(entries);
            if (entries.isEmpty()) {
                throw new IllegalArgumentException("expected at least 1 candidate, found none");
            }
        }

        public HeadCandidate best() {
            return entries.getFirst();
        }

        public TrainEvent.HeadChosen chosen() {
            Optional<HeadCandidate> averages = best().isFirstOrder()
                    ? Optional.empty()
                    : entries.stream().filter(HeadCandidate::isFirstOrder).findFirst();
            return new TrainEvent.HeadChosen(best(), averages, images, entries.size());
        }

        public static Result read(Path file) throws IOException {
            return JsonText.read(
                    file, Result.class, "the table of candidates", "remove it and use --resume to compare them again");
        }

        public void write(Path file) throws IOException {
            JsonText.write(file, this);
        }
    }

    /** Result of a search with the time that the selected head took in it. */
    public record Found(Result result, Optional<Cost> cost) {}

    /**
     * Seconds for some images: descriptors, their products, and solving from those.
     *
     * @param size length of the descriptors
     */
    public record Cost(int images, long size, double descriptors, double products, double solving) {
        /** The last fit also solves for all images, writes the model and fits the distances from the classes. */
        private static final double HEADROOM = 2;

        /** The last fit is calibrated with ten folds of nine tenths, a comparison has five of four fifths. */
        private static final double MORE_FOLDS = 3;

        /** Returns the time to describe images. */
        public Duration describing(int count) {
            return duration(HEADROOM * descriptors * count / images);
        }

        /** Returns the time to fit the head: products take the square of the images, solving the cube, up to the length of descriptors. */
        public Duration fitting(int count) {
            double share = (double) count / images;
            double side = Math.min(count, (double) size) / images;
            return duration(HEADROOM * share * (descriptors + side * (products + side * MORE_FOLDS * solving)));
        }

        /** Returns the number of images, at most all, to which the head can be fitted in a time. */
        public int most(int all, Duration time) {
            int low = 0;
            int high = all;
            while (low < high) {
                int middle = (low + high + 1) / 2;
                if (fitting(middle).compareTo(time) <= 0) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            return low;
        }

        private static Duration duration(double seconds) {
            return Duration.ofNanos((long) (1e9 * seconds));
        }
    }

    private FrozenBackbone network() {
        return data.extraction().extractor().network();
    }

    private Backbone backbone() {
        return network().backbone();
    }

    public record Candidate(String name, String pooling) {
        /** Returns the layer, or nothing for all layers. */
        String layer() {
            return pooling.startsWith("layer:") ? pooling.substring(0, pooling.indexOf('/')) : "";
        }
    }

    /** Returns the single poolings for a backbone, the first-order baseline first. */
    public static List<Candidate> candidates(Backbone backbone) {
        List<String> layers = List.of(backbone.layer().split("\\+"));
        List<Long> channels = backbone.channelsOfLayers();
        String deep = layers.getLast();
        String ofDeep = ofDeepestLayer(backbone);
        List<Candidate> all = new ArrayList<>();
        all.add(new Candidate("average of " + deep, ofDeep + "average"));
        if (layers.size() > 1) {
            all.add(new Candidate("average of " + String.join(" and ", layers), "average"));
        }
        if (hasUsefulTail(backbone)) {
            all.add(new Candidate("average behind " + deep, ofDeep + "tail"));
        }
        String bilinear = channels.getLast() > MAX_BILINEAR_CHANNELS ? "bilinear/sketch:8192" : "bilinear/triu";
        all.add(new Candidate("B-CNN of " + deep, ofDeep + bilinear + "/root/l2"));
        all.add(new Candidate("RBF kernel of " + deep, ofDeep + reduction(channels.getLast()) + "rbf/triu/root/l2"));
        for (int i = layers.size() - 1; i >= 0; i--) {
            all.add(new Candidate(
                    "iSQRT-COV of " + layers.get(i),
                    ofLayer(backbone, layers.get(i)) + reduction(channels.get(i)) + "covariance/isqrt:5/triu"));
        }
        return all;
    }

    /** Returns the beginning of a pooling of one layer of the cut. */
    private static String ofLayer(Backbone backbone, String layer) {
        return backbone.channelsOfLayers().size() > 1 ? "layer:" + layer + "/" : "";
    }

    private static String ofDeepestLayer(Backbone backbone) {
        return ofLayer(backbone, backbone.layer().substring(backbone.layer().lastIndexOf('+') + 1));
    }

    private static String reduction(long channels) {
        return channels > MAX_CHANNELS ? "pca:256/" : "";
    }

    /** Returns whether the layers behind the cut take part in the search. */
    public static boolean hasUsefulTail(Backbone backbone) {
        return USEFUL_TAILS.contains(backbone.name());
    }

    /** Returns the pooling for fine-tuning: tail or average, joined with a 1×1 convolution and iSQRT-COV of all layers. */
    public static Pooling fineTuned(Backbone backbone) {
        String first = ofDeepestLayer(backbone) + (hasUsefulTail(backbone) ? "tail" : "average");
        String conv = "conv:" + Math.min(256, backbone.channels());
        return Pooling.parse("[" + first + "+" + conv + "/covariance/isqrt:5/triu]");
    }

    /** Returns the pooling of the paper on the deepest layer, which is learned on frozen features. */
    public static Pooling learned(Backbone backbone) {
        return Pooling.parse(ofDeepestLayer(backbone) + Pooling.parse("default").text());
    }

    /**
     * Returns the baseline, which is the first, the best of each layer, and the candidates that are not far behind the best.
     *
     * @param correct whether each of some images is classified correctly, by candidate
     */
    static List<Candidate> promising(SequencedMap<Candidate, boolean[]> correct) {
        Candidate baseline = correct.firstEntry().getKey();
        boolean[] best = correct.values().stream()
                .max(Comparator.comparingDouble(CrossValidation::share))
                .orElseThrow();
        Map<String, Double> ofLayers = new HashMap<>();
        correct.forEach((one, right) -> ofLayers.merge(one.layer(), CrossValidation.share(right), Math::max));
        return correct.entrySet().stream()
                .filter(one -> {
                    double accuracy = CrossValidation.share(one.getValue());
                    return one.getKey().equals(baseline)
                            || accuracy >= ofLayers.getOrDefault(one.getKey().layer(), 0.0)
                            || CrossValidation.share(best) - accuracy
                                    <= FAR_BEHIND * CrossValidation.pairedError(best, one.getValue());
                })
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Returns the first-order candidate, which fits any number of images, for plans and estimates. */
    public static Pooling baseline(Backbone backbone) {
        return Pooling.parse(candidates(backbone).getFirst().pooling());
    }

    /** Compares the candidates on at most {@value #MAX_IMAGES} training images. */
    public Optional<Found> run() throws IOException {
        int most = Math.clamp((long) IMAGES_PER_CLASS * classes, FEWEST_IMAGES, MAX_IMAGES);
        List<Sample> some = data.some(most);
        try (Scope _ = Scope.open();
                FeatureTable table = data.features(
                        "features for the choice of the head",
                        some,
                        data.trainingCrops().first(),
                        context.threads(),
                        context::preparing)) {
            return new Comparison(table, some).run();
        }
    }

    /** Returns the solver of descriptors of a length; empty if none has room for all training images. */
    private Optional<LinearSolver> roomy(long size) {
        long rows = (long) data.parts().training().size() * data.trainingCrops().count();
        List<LinearSolver> solvers =
                solver.map(List::of).orElse(List.of(new Lda(OptionalDouble.empty()), new Svm(OptionalDouble.of(10))));
        return solvers.stream().filter(one -> one.hasRoom(rows, size)).findFirst();
    }

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Scored(
            List<Member> members, LinearSolver solver, double accuracy, boolean[] correct, double seconds) {
        long size() {
            return members.stream().mapToLong(Member::size).sum();
        }

        String name() {
            return members.stream().map(Member::name).collect(Collectors.joining(" + "));
        }

        String pooling() {
            double length = LENGTH / Math.sqrt(members.size());
            return members.size() == 1
                    ? members.getFirst().scaled(length)
                    : members.stream().map(member -> member.scaled(length)).collect(Collectors.joining("+", "[", "]"));
        }

        double error() {
            return Math.sqrt(accuracy * (1 - accuracy) / correct.length);
        }

        Cost cost() {
            return new Cost(
                    correct.length,
                    size(),
                    members.stream().mapToDouble(Member::descriptors).sum(),
                    members.stream().mapToDouble(Member::products).sum(),
                    seconds);
        }

        HeadCandidate entry(Scored selected) {
            return new HeadCandidate(
                    name(),
                    pooling(),
                    solver.text(),
                    size(),
                    accuracy,
                    error(),
                    selected.accuracy - accuracy,
                    CrossValidation.pairedError(selected.correct, correct));
        }
    }

    /** @param descriptors seconds in which they were computed, as {@code products} for those of them with one another */
    private record Member(String name, String text, long size, RowProducts gram, double descriptors, double products) {
        /** Returns the pooling with a final scale to a root mean square norm. */
        String scaled(double length) {
            String factor = String.format(Locale.ROOT, "%.4g", length / Math.sqrt(gram.meanSquare()));
            return text + "/scale:" + factor.replaceAll("e\\+?(-?)0*", "e$1");
        }
    }

    private final class Comparison {
        private final FeatureTable table;
        private final int[] labels;
        private final int[] groups;
        private final List<Scored> all = new ArrayList<>();
        private final Optional<Duration> left;

        Comparison(FeatureTable table, List<Sample> samples) {
            this.table = table;
            this.labels = samples.stream().mapToInt(Sample::label).toArray();
            this.groups = data.firstDuplicates(samples);
            this.left = context.cancellation().remaining();
        }

        Optional<Found> run() {
            int[] every = eligible(IntStream.range(0, labels.length).toArray());
            if (every.length == 0) {
                context.warn("too few training images of each class to compare heads:"
                        + " average pooling is used; add images, or set --pooling");
                return Optional.empty();
            }
            List<Candidate> singles = candidates(backbone()).stream()
                    .filter(candidate -> roomy(resolved(candidate)
                                    .descriptorSize(backbone().channels()))
                            .isPresent())
                    .toList();
            int[] first = eligible(
                    IntStream.range(0, labels.length).filter(i -> i % 3 == 0).toArray());
            List<Candidate> kept = singles;
            if (first.length >= (left.isPresent() ? FEWEST_IN_TIME : FEWEST_IMAGES / 4)) {
                try (Scope _ = Scope.open()) {
                    Map<Candidate, Scored> some = score(singles, first);
                    kept = promising(correct(some));
                    if (left.isPresent()) { // the baseline, then the best: the time may not suffice for all
                        List<Candidate> ordered = new ArrayList<>(kept);
                        ordered.subList(1, ordered.size())
                                .sort(Comparator.comparingDouble((Candidate one) -> -accuracy(some, one)));
                        kept = ordered;
                    }
                    if (!isTimeFor(kept.stream().map(some::get).toList(), every.length)) {
                        all.addAll(some.values());
                        return Optional.of(selected(first, false));
                    }
                }
            }
            Map<Candidate, Scored> scored = score(kept, every);
            all.addAll(scored.values());
            for (int joined = 2; joined <= MAX_JOINED && joined <= scored.size() && !mostIsUsed(); joined++) {
                List<Member> leader = best().members();
                if (leader.size() < joined - 1) {
                    break; // joining did not help
                }
                for (Scored other : scored.values()) {
                    Member more = other.members().getFirst();
                    if (!leader.contains(more)) {
                        List<Member> members = new ArrayList<>(leader);
                        members.add(more);
                        validate(members, every).ifPresent(this::add);
                    }
                }
            }
            return Optional.of(selected(every, solver.isEmpty() && !mostIsUsed()));
        }

        /** Selects the shortest descriptor within one standard error of the best, and perhaps an SVM for it. */
        private Found selected(int[] which, boolean svm) {
            Scored best = best();
            Scored selected = all.stream()
                    .filter(one ->
                            best.accuracy - one.accuracy <= CrossValidation.pairedError(best.correct, one.correct))
                    .min(Comparator.comparingLong(Scored::size).thenComparingDouble(one -> -one.accuracy))
                    .orElse(best);
            Scored solved = svm ? withSvm(selected, which) : selected;
            List<HeadCandidate> entries = all.stream()
                    .sorted(Comparator.comparing((Scored one) -> !one.equals(solved))
                            .thenComparing(Comparator.comparingDouble(Scored::accuracy)
                                    .reversed()
                                    .thenComparingLong(Scored::size)))
                    .map(one -> one.entry(solved))
                    .toList();
            return new Found(new Result(entries, which.length), Optional.of(solved.cost()));
        }

        /** Returns the most accurate candidate, the shortest of equals. */
        private Scored best() {
            return all.stream()
                    .max(Comparator.comparingDouble(Scored::accuracy).thenComparingLong(one -> -one.size()))
                    .orElseThrow();
        }

        private static Scored mostAccurate(Map<Candidate, Scored> scored) {
            return scored.values().stream()
                    .max(Comparator.comparingDouble(Scored::accuracy))
                    .orElseThrow();
        }

        private static SequencedMap<Candidate, boolean[]> correct(Map<Candidate, Scored> scored) {
            SequencedMap<Candidate, boolean[]> correct = new LinkedHashMap<>();
            scored.forEach((candidate, one) -> correct.put(candidate, one.correct));
            return correct;
        }

        private void add(Scored one) {
            all.add(one);
            context.preparing(one.entry(best()));
        }

        /** Scores single poolings; the first one always, the others while there is time. */
        private Map<Candidate, Scored> score(List<Candidate> candidates, int[] which) {
            Map<Candidate, Scored> scored = new LinkedHashMap<>();
            for (Candidate candidate : candidates) {
                if (!scored.isEmpty() && mostIsUsed()) {
                    break; // leaves time for the classifier
                }
                context.preparing(new TrainEvent.Task("comparing heads", scored.size(), candidates.size()));
                validate(List.of(describe(candidate, which)), which).ifPresent(one -> {
                    scored.put(candidate, one);
                    context.preparing(one.entry(mostAccurate(scored)));
                });
            }
            return scored;
        }

        /** Cross-validates joined poolings; empty if no solver has room for their descriptors. */
        private Optional<Scored> validate(List<Member> members, int[] which) {
            long size = members.stream().mapToLong(Member::size).sum();
            return roomy(size).map(found -> {
                try (Scope _ = Scope.open()) {
                    double begun = seconds();
                    LabelledRows rows = labelled(joined(members), which);
                    CrossValidation scores =
                            Lda.crossValidation(rows, size, this::watch).orElseThrow();
                    return new Scored(members, found, scores.accuracy(), scores.correct(), seconds() - begun);
                }
            });
        }

        private static Tensor joined(List<Member> members) {
            Tensor sum = members.getFirst().gram().products();
            for (Member member : members.subList(1, members.size())) {
                sum = sum.add(member.gram().products());
            }
            return members.size() == 1 ? sum : sum.mul(1.0 / members.size());
        }

        /** Returns the candidate with an SVM if that is more accurate by more than one standard error. */
        private Scored withSvm(Scored lda, int[] which) {
            if (!(lda.solver instanceof Lda)) {
                return lda;
            }
            LinearSolver svm = new Svm(OptionalDouble.of(10));
            double begun = seconds();
            try (Scope _ = Scope.open()) {
                LabelledRows rows = labelled(RowProducts.rowsOf(joined(lda.members)), which);
                CrossValidation scores =
                        svm.fit(rows, this::watch).crossValidation().orElseThrow();
                Scored other = new Scored(lda.members, svm, scores.accuracy(), scores.correct(), seconds() - begun);
                add(other);
                return other.accuracy - lda.accuracy > CrossValidation.pairedError(lda.correct, other.correct)
                        ? other
                        : lda;
            }
        }

        private double seconds() {
            return context.cancellation().elapsed().toNanos() / 1e9;
        }

        private void watch(String task, int done, int of) {
            context.throwIfInterrupted();
        }

        private static double accuracy(Map<Candidate, Scored> scored, Candidate one) {
            return Objects.requireNonNull(scored.get(one)).accuracy;
        }

        /** Whether heads can be compared on more images in the time that is left; half of it is used, for the best of them first. */
        private boolean isTimeFor(List<Scored> heads, int count) {
            Duration needed =
                    heads.stream().map(one -> one.cost().fitting(count)).reduce(Duration.ZERO, Duration::plus);
            return !mostIsUsed()
                    && context.cancellation()
                            .remaining()
                            .filter(now -> now.multipliedBy(2).compareTo(needed) < 0)
                            .isEmpty();
        }

        /** Whether more than half of the time that remained at the start is used. */
        private boolean mostIsUsed() {
            return context.cancellation()
                    .remaining()
                    .filter(now -> now.compareTo(left.orElseThrow().dividedBy(2)) < 0)
                    .isPresent();
        }

        /**
         * Returns the images of classes that have enough of them for five folds, or for the most folds, at least two, to which four fifths of
         * the images can be divided; none if fewer than two classes have enough for two.
         */
        private int[] eligible(int[] which) {
            Map<Integer, Set<Integer>> groupsOfClasses = new HashMap<>();
            for (int i : which) {
                groupsOfClasses.computeIfAbsent(labels[i], _ -> new HashSet<>()).add(groups[i]);
            }
            for (int folds = 5; folds > 1; folds--) {
                int least = folds;
                Set<Integer> large = groupsOfClasses.keySet().stream()
                        .filter(label ->
                                groupsOfClasses.getOrDefault(label, Set.of()).size() >= least)
                        .collect(Collectors.toSet());
                int[] found = Arrays.stream(which)
                        .filter(i -> large.contains(labels[i]))
                        .toArray();
                if (large.size() > 1 && (folds == 2 || 5 * found.length >= 4 * which.length)) {
                    return found;
                }
            }
            return new int[0];
        }

        private LabelledRows labelled(Tensor rows, int[] which) {
            int[] present =
                    Arrays.stream(which).map(i -> labels[i]).distinct().sorted().toArray();
            int[] dense = Arrays.stream(which)
                    .map(i -> Arrays.binarySearch(present, labels[i]))
                    .toArray();
            return LabelledRows.of(rows, dense, which, present.length)
                    .withDuplicates(Arrays.stream(which).map(i -> groups[i]).toArray());
        }

        private Pooling resolved(Candidate candidate) {
            return Pooling.parse(candidate.pooling()).resolve(backbone(), labels.length);
        }

        /** Computes the descriptors of some images by a pooling that is fitted to them, and their products. */
        private Member describe(Candidate candidate, int[] which) {
            Pooling pooling = resolved(candidate);
            long size = pooling.descriptorSize(backbone().channels());
            double begun = seconds();
            try (Scope scope = Scope.open();
                    ParameterSet parameters = pooling.initialize(
                            backbone().channels(), new SplittableRandom(seed), DType.F32, context.device())) {
                Map<String, Tensor> tail = new HashMap<>();
                pooling.pretrained()
                        .forEach((own, name) ->
                                tail.put(own, network().tail().get(name).value()));
                parameters.assign(tail);
                if (Fitting.isNeeded(pooling)) {
                    int step = Math.ceilDiv(which.length, Fitting.images(pooling));
                    int[] fitted = IntStream.range(0, which.length)
                            .filter(i -> i % step == 0)
                            .map(i -> which[i])
                            .toArray();
                    Fitting.fit(pooling, table.rows(fitted), parameters, new SplittableRandom(seed));
                }
                Tensor rows = Tensors.empty(Shape.of(which.length, size), DType.F32, context.device());
                Layer layer = Acceleration.rewrite(pooling);
                for (int start = 0; start < which.length; start += BATCH) {
                    context.throwIfInterrupted();
                    int[] indices = Arrays.copyOfRange(which, start, Math.min(which.length, start + BATCH));
                    try (Scope _ = Scope.open();
                            Tape tape = Tape.inference()) {
                        Tensor made = layer.apply(
                                        tape.constant(table.rows(indices)), Bindings.of(parameters.variables(tape)))
                                .value();
                        rows.slice(0, start, start + indices.length).copyFrom(made);
                    }
                }
                double described = seconds();
                RowProducts gram = RowProducts.of(rows);
                scope.keep(gram.products());
                return new Member(
                        candidate.name(), pooling.text(), size, gram, described - begun, seconds() - described);
            }
        }
    }
}
