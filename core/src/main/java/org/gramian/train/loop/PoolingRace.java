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
import org.gramian.autodiff.Bindings;
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
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.train.feature.FeatureTable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Chooses a pooling for a dataset: computes the descriptors of several poolings from frozen features and compares them by the
 * leave-one-out accuracy of a linear classifier on training images ({@link LeaveOneOut}). Near-duplicates are left out
 * together. Test images play no part.
 *
 * <p>The candidates cover first order, the second-order family and their joins on the layers of the backbone's cut. A join of
 * poolings costs nothing extra: the Gram matrix of descriptors side by side is the sum of their Gram matrices.
 *
 * <p>Why a race: on frozen EfficientNet-Lite4 features no pooling wins everywhere. B-CNN is best on materials and textures,
 * iSQRT-COV of an earlier layer is 24 points ahead of average pooling on car models, average pooling needs a descriptor a
 * hundred times shorter (docs/results.md).
 */
public final class PoolingRace {
    /** The name that stands for this choice where a pooling is expected. */
    public static final String AUTO = "auto";

    /** The file of a fold that holds the table of its race. */
    public static final String FILE = "poolings.json";

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** Standard length of centred descriptors that a chosen pooling starts with, so that one learning rate suits all of them. */
    private static final double LENGTH = 5;

    /** More channels than this are reduced by PCA before a matrix of channels × channels is formed from them. */
    private static final long MOST_CHANNELS = 320;

    /** B-CNN of more channels than this is sketched: its descriptor would have more than 131,328 elements. */
    private static final long MOST_BILINEAR_CHANNELS = 512;

    private static final int FEWEST_IMAGES = 1000;
    private static final int MOST_IMAGES = 2000;
    private static final int IMAGES_PER_CLASS = 10;
    private static final int BATCH = 32;

    /**
     * A pooling that takes part.
     *
     * @param name for tables, as {@code iSQRT-COV of block20}
     * @param poolings one pooling, or several that are joined
     */
    public record Candidate(String name, List<String> poolings) {
        public Candidate {
            poolings = List.copyOf(poolings);
        }
    }

    /**
     * How a candidate did.
     *
     * @param name for tables
     * @param pooling text form
     * @param size length of its descriptor
     * @param accuracy leave-one-out accuracy on training images
     */
    public record Entry(String name, String pooling, long size, double accuracy) {}

    /**
     * The table of a race.
     *
     * @param entries all candidates, the best first
     * @param images training images that it was run on
     */
    public record Result(List<Entry> entries, int images) {
        public Result {
            entries = List.copyOf(entries);
            if (entries.isEmpty()) {
                throw new IllegalArgumentException("expected at least 1 pooling to compare, found none");
            }
        }

        /** The chosen one. */
        public Entry best() {
            return entries.getFirst();
        }

        /**
         * Reads a table that {@link #write} wrote.
         *
         * @throws IOException if the file is damaged; the message says what to do
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

        /** Writes the table as JSON, whole or not at all. */
        public void write(Path file) throws IOException {
            AtomicFile.put(file, partial -> Files.write(partial, MAPPER.writeValueAsBytes(this)));
        }
    }

    private final TrainingData data;
    private final TrainingContext<TrainEvent> context;
    private final Backbone backbone;
    private final int classes;
    private final Optional<LinearSolver> solver;
    private final long seed;

    /**
     * Prepares a race; nothing is computed yet.
     *
     * @param classes number of classes
     * @param solver of the classifier that follows; poolings whose descriptors it cannot hold take no part
     * @param seed of random first values and fitting
     */
    public PoolingRace(
            TrainingData data,
            TrainingContext<TrainEvent> context,
            int classes,
            Optional<LinearSolver> solver,
            long seed) {
        this.data = data;
        this.context = context;
        this.backbone = data.extraction().extractor().network().backbone();
        this.classes = classes;
        this.solver = solver;
        this.seed = seed;
    }

    /** The candidates for a backbone, the first-order baseline first. */
    public static List<Candidate> candidates(Backbone backbone) {
        List<String> layers = List.of(backbone.layer().split("\\+"));
        List<Long> channels = backbone.channelsOfLayers();
        String fine = layers.getFirst();
        String deep = layers.getLast();
        boolean several = layers.size() > 1;
        long deepChannels = channels.getLast();
        String ofDeep = several ? "layer:" + deep + "/" : "";
        String ofFine = several ? "layer:" + fine + "/" : "";
        String average = ofDeep + "average";
        String bilinear = ofDeep
                + (deepChannels > MOST_BILINEAR_CHANNELS ? "bilinear/sketch:8192/root/l2" : "bilinear/triu/root/l2");
        String isqrtDeep = ofDeep + reduction(deepChannels) + "covariance/isqrt:5/triu";
        String isqrtFine = ofFine + reduction(channels.getFirst()) + "covariance/isqrt:5/triu";
        String kernel = ofDeep + reduction(deepChannels) + "rbf/triu/root/l2";
        long square = Math.min(deepChannels, 256);
        String spd = ofDeep + reduction(deepChannels) + "rbf/spd:" + Math.min(128, square) + "/relu/triu/root/l2";
        List<Candidate> all = new ArrayList<>();
        all.add(new Candidate("average of " + deep, List.of(average)));
        if (several) {
            all.add(new Candidate("average of " + String.join(" and ", layers), List.of("average")));
        }
        all.add(new Candidate("B-CNN of " + deep, List.of(bilinear)));
        all.add(new Candidate("iSQRT-COV of " + deep, List.of(isqrtDeep)));
        if (several) {
            all.add(new Candidate("iSQRT-COV of " + fine, List.of(isqrtFine)));
        }
        all.add(new Candidate("RBF kernel of " + deep, List.of(kernel)));
        all.add(new Candidate("SPD (RBF kernel, untrained W) of " + deep, List.of(spd)));
        String second = several ? isqrtFine : isqrtDeep;
        String secondName = "iSQRT-COV of " + (several ? fine : deep);
        all.add(new Candidate("average of " + deep + " + " + secondName, List.of(average, second)));
        all.add(new Candidate("B-CNN of " + deep + " + " + secondName, List.of(bilinear, second)));
        if (several) {
            all.add(new Candidate(
                    "B-CNN and iSQRT-COV of " + deep + " + " + secondName, List.of(bilinear, isqrtDeep, second)));
        }
        return all;
    }

    /** Networks whose own layers after the cut end in an average of convolutions, and are worth keeping. */
    private static final Set<String> USEFUL_TAILS = Set.of("efficientnet-lite4", "googlenet");

    /**
     * The head for fine-tuning: first order by the network's own last layers where it has some, joined with iSQRT-COV of all
     * layers of the cut behind a 1×1 convolution.
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

    /** The first-order candidate, which fits any number of images: for plans and estimates before the race. */
    public static Pooling baseline(Backbone backbone) {
        return Pooling.parse(candidates(backbone).getFirst().poolings().getFirst());
    }

    /**
     * Runs the race on at most 2,000 training images. Under a time budget it ends with the best so far when half of the time
     * that is left is used.
     *
     * @throws IOException if an image cannot be read
     * @throws InterruptedTrainingException if the run is cancelled meanwhile
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
                    break; // the other half is for the classifier
                }
                context.preparing(new TrainEvent.Solving("comparing poolings", entries.size(), candidates.size()));
                List<Member> parts = candidate.poolings().stream()
                        .map(text -> members.computeIfAbsent(text, _ -> describe(text, table, labels)))
                        .toList();
                Entry entry = entry(candidate.name(), parts, labels, groups);
                entries.add(entry);
                context.preparing(new TrainEvent.PoolingCompared(entry));
            }
            // of equals the shorter descriptor
            entries.sort(Comparator.comparingDouble(Entry::accuracy).reversed().thenComparingLong(Entry::size));
            return new Result(entries, some.size());
        }
    }

    /** Whether the classifier can be solved on the descriptors of all training images. */
    private boolean fits(Candidate candidate) {
        long size = candidate.poolings().stream()
                .mapToLong(text ->
                        Pooling.parse(text).settled(backbone, Integer.MAX_VALUE).descriptorSize(backbone.channels()))
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
     * A pooling that takes part alone or in joins.
     *
     * @param text form
     * @param size length of its descriptor
     * @param gram of its centred descriptors on the training images
     */
    private record Member(String text, long size, Gram gram) {
        /** With a factor behind it that brings centred descriptors to a length. */
        String scaled(double length) {
            return text + "/scale:" + shortest(length / Math.sqrt(gram.meanSquare()));
        }

        private static String shortest(double factor) {
            return String.format(Locale.ROOT, "%.4g", factor).replaceAll("e\\+?(-?)0*", "e$1");
        }
    }

    /** Whether more than half of the time that was left before the first candidate is used. */
    private boolean mostIsUsed(Optional<Duration> left) {
        return context.cancellation()
                .remaining()
                .filter(now -> now.compareTo(left.orElseThrow().dividedBy(2)) < 0)
                .isPresent();
    }

    private Member describe(String text, FeatureTable table, int[] labels) {
        Pooling pooling = Pooling.parse(text).settled(backbone, labels.length);
        long size = pooling.descriptorSize(backbone.channels());
        Device device = context.device();
        try (Scope scope = Scope.open();
                ParameterSet parameters =
                        pooling.initialize(backbone.channels(), new SplittableRandom(seed), DType.F32, device)) {
            if (Fitting.isNeeded(pooling)) {
                int[] fitted = IntStream.range(0, table.count())
                        .filter(place -> place % Math.ceilDiv(table.count(), Fitting.images(pooling)) == 0)
                        .toArray();
                Fitting.fit(pooling, table.rows(fitted), parameters, new SplittableRandom(seed));
            }
            Tensor rows = Tensors.empty(Shape.of(table.count(), size), DType.F32, device);
            for (int start = 0; start < table.count(); start += BATCH) {
                context.throwIfInterrupted();
                int[] places = IntStream.range(start, Math.min(table.count(), start + BATCH))
                        .toArray();
                try (Scope _ = Scope.open();
                        Tape tape = Tape.inference()) {
                    Tensor made = pooling.apply(
                                    tape.constant(table.rows(places)), Bindings.of(parameters.variables(tape)))
                            .value();
                    Views.slice(rows, 0, start, start + places.length).copyFrom(made);
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
                sum = Elementwise.add(sum, member.gram().products());
            }
            if (members.size() > 1) {
                sum = Elementwise.mul(sum, 1.0 / members.size());
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
