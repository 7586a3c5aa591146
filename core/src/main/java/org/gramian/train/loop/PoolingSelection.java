package org.gramian.train.loop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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
import org.gramian.basis.AtomicFile;
import org.gramian.image.dataset.Sample;
import org.gramian.linear.LabelledRows;
import org.gramian.linear.LeaveOneOut;
import org.gramian.linear.LeaveOneOut.Gram;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FeatureTable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Selects the pooling for a dataset: compares candidates on frozen features by the leave-one-out accuracy of a linear classifier on
 * training images ({@link LeaveOneOut}), near-duplicates left out together. The test set is not used.
 *
 * <p>Candidates are first-order and second-order poolings of the layers of the cut and their joins. The Gram matrix of concatenated
 * descriptors is the sum of their Gram matrices, so joins need no further features. docs/results.md has the measurements: B-CNN is best
 * on materials and textures, iSQRT-COV of an earlier layer on car models.
 */
public final class PoolingSelection {
    /** Value of the pooling option that selects this comparison. */
    public static final String AUTO = "auto";

    /** File of the result in a fold's folder. */
    public static final String FILE = "poolings.json";

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** Root mean square norm of the centred descriptors of the selected pooling: the same learning rate then works for all poolings. */
    private static final double LENGTH = 5;

    /** More channels are reduced by PCA before second-order pooling. */
    private static final long MOST_CHANNELS = 320;

    /** B-CNN of more channels uses a sketch: the descriptor would exceed 131,328 elements. */
    private static final long MOST_BILINEAR_CHANNELS = 512;

    private static final int FEWEST_IMAGES = 1000;
    private static final int MOST_IMAGES = 2000;
    private static final int IMAGES_PER_CLASS = 10;
    private static final int BATCH = 32;

    /**
     * A compared pooling.
     *
     * @param name in tables, e.g. {@code iSQRT-COV of block20}
     * @param poolings one, or several that are joined
     */
    public record Candidate(String name, List<String> poolings) {
        public Candidate {
            poolings = List.copyOf(poolings);
        }
    }

    /**
     * Result of a candidate.
     *
     * @param name in tables
     * @param pooling text form
     * @param size length of its descriptor
     * @param accuracy leave-one-out accuracy on training images
     */
    public record Entry(String name, String pooling, long size, double accuracy) {
        /** Returns the event of this result. */
        public TrainEvent.PoolingCompared compared() {
            return new TrainEvent.PoolingCompared(name, pooling, accuracy);
        }
    }

    /**
     * Result of the comparison.
     *
     * @param entries all candidates, the best first
     * @param images number of training images used
     */
    public record Result(List<Entry> entries, int images) {
        public Result {
            entries = List.copyOf(entries);
            if (entries.isEmpty()) {
                throw new IllegalArgumentException("expected at least 1 pooling to compare, found none");
            }
        }

        /** Returns the selected pooling. */
        public Entry best() {
            return entries.getFirst();
        }

        /**
         * Reads a result of {@link #write}.
         *
         * @throws IOException if the file is damaged
         */
        public static Result read(Path file) throws IOException {
            try {
                return MAPPER.readValue(file.toFile(), Result.class);
            } catch (JacksonException damaged) {
                throw new IOException(
                        file + ": expected the table of compared poolings, found a damaged file;"
                                + " remove it and use --resume to compare them again",
                        damaged);
            }
        }

        /** Writes the result as JSON, atomically. */
        public void write(Path file) throws IOException {
            AtomicFile.put(file, partial -> Files.write(partial, MAPPER.writeValueAsBytes(this)));
        }
    }

    private final TrainingData data;
    private final TrainingContext context;
    private final Backbone backbone;
    private final int classes;
    private final Optional<LinearSolver> solver;
    private final long seed;

    /**
     * Prepares a comparison.
     *
     * @param classes number of classes
     * @param solver of the classifier; poolings whose descriptors it cannot hold are left out
     * @param seed of initialization and fitting
     */
    public PoolingSelection(
            TrainingData data, TrainingContext context, int classes, Optional<LinearSolver> solver, long seed) {
        this.data = data;
        this.context = context;
        this.backbone = data.extraction().extractor().network().backbone();
        this.classes = classes;
        this.solver = solver;
        this.seed = seed;
    }

    /** Returns the candidates for a backbone, the first-order baseline first. */
    public static List<Candidate> candidates(Backbone backbone) {
        List<String> layers = List.of(backbone.layer().split("\\+"));
        List<Long> channels = backbone.channelsOfLayers();
        boolean several = layers.size() > 1;
        String fine = layers.getFirst();
        String deep = layers.getLast();
        long deepChannels = channels.getLast();
        String ofDeep = several ? "layer:" + deep + "/" : "";
        String ofFine = several ? "layer:" + fine + "/" : "";
        String average = ofDeep + "average";
        String bilinear = ofDeep
                + (deepChannels > MOST_BILINEAR_CHANNELS ? "bilinear/sketch:8192/root/l2" : "bilinear/triu/root/l2");
        String isqrtDeep = ofDeep + reduction(deepChannels) + "covariance/isqrt:5/triu";
        String isqrtFine = ofFine + reduction(channels.getFirst()) + "covariance/isqrt:5/triu"; // = deep if one layer
        String rbf = ofDeep + reduction(deepChannels) + "rbf/";
        String isqrtName = "iSQRT-COV of " + fine;
        List<Candidate> all = new ArrayList<>();
        all.add(new Candidate("average of " + deep, List.of(average)));
        if (several) {
            all.add(new Candidate("average of " + String.join(" and ", layers), List.of("average")));
        }
        all.add(new Candidate("B-CNN of " + deep, List.of(bilinear)));
        all.add(new Candidate("iSQRT-COV of " + deep, List.of(isqrtDeep)));
        if (several) {
            all.add(new Candidate(isqrtName, List.of(isqrtFine)));
        }
        all.add(new Candidate("RBF kernel of " + deep, List.of(rbf + "triu/root/l2")));
        all.add(new Candidate(
                "SPD (RBF kernel, untrained W) of " + deep,
                List.of(rbf + "spd:" + Math.min(128, deepChannels) + "/relu/triu/root/l2")));
        all.add(new Candidate("average of " + deep + " + " + isqrtName, List.of(average, isqrtFine)));
        all.add(new Candidate("B-CNN of " + deep + " + " + isqrtName, List.of(bilinear, isqrtFine)));
        if (several) {
            all.add(new Candidate(
                    "B-CNN and iSQRT-COV of " + deep + " + " + isqrtName, List.of(bilinear, isqrtDeep, isqrtFine)));
        }
        return all;
    }

    /** Backbones whose layers behind the cut are convolutions with average pooling. */
    private static final Set<String> USEFUL_TAILS = Set.of("efficientnet-lite4", "googlenet");

    /**
     * Returns the pooling for fine-tuning: the tail of the backbone or average pooling, joined with a 1×1 convolution and iSQRT-COV of all layers of the cut.
     */
    public static Pooling fineTuned(Backbone backbone) {
        boolean several = backbone.channelsOfLayers().size() > 1;
        String deep = backbone.layer().substring(backbone.layer().lastIndexOf('+') + 1);
        String first =
                (several ? "layer:" + deep + "/" : "") + (USEFUL_TAILS.contains(backbone.name()) ? "tail" : "average");
        String conv = "conv:" + Math.min(256, backbone.channels());
        return Pooling.parse("[" + first + "+" + conv + "/covariance/isqrt:5/triu]");
    }

    private static String reduction(long channels) {
        return channels > MOST_CHANNELS ? "pca:256/" : "";
    }

    /** Returns the first-order candidate, which fits any number of images, for plans and estimates. */
    public static Pooling baseline(Backbone backbone) {
        return Pooling.parse(candidates(backbone).getFirst().poolings().getFirst());
    }

    /**
     * Compares the candidates on at most {@value #MOST_IMAGES} training images. With a time budget it stops when half of the remaining time is used.
     *
     * @throws IOException if an image cannot be read
     * @throws InterruptedTrainingException if the run is cancelled
     */
    public Result run() throws IOException {
        int most = Math.clamp((long) IMAGES_PER_CLASS * classes, FEWEST_IMAGES, MOST_IMAGES);
        List<Sample> some = data.some(most);
        int[] labels = some.stream().mapToInt(Sample::label).toArray();
        int[] groups = data.firstDuplicates(some);
        List<Candidate> candidates =
                candidates(backbone).stream().filter(this::fits).toList();
        try (Scope _ = Scope.open();
                FeatureTable table = data.features(
                        "features for pooling comparison",
                        some,
                        data.trainingCrops().first(),
                        context.threads(),
                        context::preparing)) {
            Map<String, Member> members = new LinkedHashMap<>();
            List<Entry> entries = new ArrayList<>();
            Optional<Duration> left = context.cancellation().remaining();
            for (Candidate candidate : candidates) {
                if (!entries.isEmpty() && mostIsUsed(left)) {
                    break; // leaves time for the classifier
                }
                context.preparing(new TrainEvent.Task("comparing poolings", entries.size(), candidates.size()));
                List<Member> parts = candidate.poolings().stream()
                        .map(text -> members.computeIfAbsent(text, _ -> describe(text, table, labels)))
                        .toList();
                Entry entry = entry(candidate.name(), parts, labels, groups);
                entries.add(entry);
                context.preparing(entry.compared());
            }
            // ties: the shorter descriptor first
            entries.sort(Comparator.comparingDouble(Entry::accuracy).reversed().thenComparingLong(Entry::size));
            return new Result(entries, some.size());
        }
    }

    /** Whether the classifier can be solved on the descriptors of all training images. */
    private boolean fits(Candidate candidate) {
        long size = candidate.poolings().stream()
                .mapToLong(text ->
                        Pooling.parse(text).resolve(backbone, Integer.MAX_VALUE).descriptorSize(backbone.channels()))
                .sum();
        long rows = (long) data.parts().training().size() * data.trainingCrops().count();
        try {
            solver.ifPresent(some -> some.requireRoom(rows, size));
            return true;
        } catch (IllegalArgumentException tooMany) {
            return false;
        }
    }

    /**
     * A pooling of one or more candidates.
     *
     * @param text form
     * @param size length of its descriptor
     * @param gram of its centred descriptors on the training images
     */
    private record Member(String text, long size, Gram gram) {
        /** Returns the pooling with a final scale to a root mean square norm. */
        String scaled(double length) {
            return text + "/scale:" + shortest(length / Math.sqrt(gram.meanSquare()));
        }

        private static String shortest(double factor) {
            return String.format(Locale.ROOT, "%.4g", factor).replaceAll("e\\+?(-?)0*", "e$1");
        }
    }

    /** Whether more than half of the time that remained at the start is used. */
    private boolean mostIsUsed(Optional<Duration> left) {
        return context.cancellation()
                .remaining()
                .filter(now -> now.compareTo(left.orElseThrow().dividedBy(2)) < 0)
                .isPresent();
    }

    private Member describe(String text, FeatureTable table, int[] labels) {
        Pooling pooling = Pooling.parse(text).resolve(backbone, labels.length);
        long size = pooling.descriptorSize(backbone.channels());
        Device device = context.device();
        try (Scope scope = Scope.open();
                ParameterSet parameters =
                        pooling.initialize(backbone.channels(), new SplittableRandom(seed), DType.F32, device)) {
            if (Fitting.isNeeded(pooling)) {
                int[] fitted = IntStream.range(0, table.count())
                        .filter(index -> index % Math.ceilDiv(table.count(), Fitting.images(pooling)) == 0)
                        .toArray();
                Fitting.fit(pooling, table.rows(fitted), parameters, new SplittableRandom(seed));
            }
            Tensor rows = Tensors.empty(Shape.of(table.count(), size), DType.F32, device);
            Layer layer = Acceleration.rewrite(pooling);
            for (int start = 0; start < table.count(); start += BATCH) {
                context.throwIfInterrupted();
                int[] indices = IntStream.range(start, Math.min(table.count(), start + BATCH))
                        .toArray();
                try (Scope _ = Scope.open();
                        Tape tape = Tape.inference()) {
                    Tensor made = layer.apply(
                                    tape.constant(table.rows(indices)), Bindings.of(parameters.variables(tape)))
                            .value();
                    rows.slice(0, start, start + indices.length).copyFrom(made);
                }
            }
            int[] groups = IntStream.range(0, labels.length).toArray();
            Gram gram = LeaveOneOut.gram(LabelledRows.of(rows, labels, groups, classes));
            return new Member(pooling.text(), size, new Gram(scope.keep(gram.products()), gram.meanSquare()));
        }
    }

    private Entry entry(String name, List<Member> members, int[] labels, int[] groups) {
        try (Scope _ = Scope.open()) {
            Tensor sum = members.getFirst().gram().products();
            for (Member member : members.subList(1, members.size())) {
                sum = sum.add(member.gram().products());
            }
            if (members.size() > 1) {
                sum = sum.mul(1.0 / members.size());
            }
            double accuracy = LeaveOneOut.of(sum, labels, groups, classes).accuracy();
            double length = LENGTH / Math.sqrt(members.size());
            String text = members.size() == 1
                    ? members.getFirst().scaled(length)
                    : members.stream().map(member -> member.scaled(length)).collect(Collectors.joining("+", "[", "]"));
            return new Entry(
                    name, text, members.stream().mapToLong(Member::size).sum(), accuracy);
        }
    }
}
