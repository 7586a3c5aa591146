package org.gramian.image.audit.finding;

import static org.gramian.image.audit.AuditReport.THRESHOLDS;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.basis.ParallelLoop;
import org.gramian.basis.Sha256;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.AuditedImage;
import org.gramian.image.audit.AuditReport.ClassCount;
import org.gramian.image.audit.AuditReport.Contents;
import org.gramian.image.audit.AuditReport.Contents.SizeCount;
import org.gramian.image.audit.AuditReport.Contents.Spread;
import org.gramian.image.audit.AuditReport.DuplicateGroup;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.audit.AuditReport.UnreadableImage;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.Sample;

/**
 * Checks a dataset for problems that would harm training.
 *
 * <p>Each image is decoded once, by one of several threads, and reduced to about a kilobyte ({@link ImageFacts}): memory is
 * one decoded image per thread, and a gigabyte for a million images.
 */
public final class Auditor {
    private final Function<Path, ReadResult> reader;
    private final int threads;
    private final List<Crops> crops;

    /**
     * @param reader reads an image's file, from several threads at once; {@code new ImageReader(limits)::read}
     * @param threads number of threads, at least 1
     * @param crops an image from which one of these cannot be taken counts as unreadable
     */
    public Auditor(Function<Path, ReadResult> reader, int threads, Crops... crops) {
        if (threads < 1) {
            throw new IllegalArgumentException("an audit needs at least 1 thread, found " + threads);
        }
        this.reader = reader;
        this.threads = threads;
        this.crops = List.of(crops);
    }

    /** Returns the image, or the reason why a required crop cannot be taken from it. */
    private ReadResult croppable(ReadResult whole, Sample sample) {
        ReadResult result = whole;
        for (Crops needed : crops) {
            if (result instanceof ReadResult.Readable) {
                result = needed.validate(whole, sample.box());
            }
        }
        return result;
    }

    /**
     * Audits a dataset.
     *
     * @param progress receives the number of finished images, in ascending order
     */
    public AuditReport of(Dataset dataset, LongConsumer progress) throws InterruptedException {
        Input subject = new Input(dataset);
        ImageFacts[] facts = new ImageFacts[dataset.samples().size()];
        UnreadableImage[] unreadable = new UnreadableImage[facts.length];
        ParallelLoop.forEach(facts.length, threads, progress, index -> {
            Sample sample = dataset.samples().get(index);
            ReadResult whole = reader.apply(sample.file());
            switch (croppable(whole, sample)) {
                case ReadResult.Readable _ -> facts[index] = ImageFacts.of(index, (ReadResult.Readable) whole);
                case ReadResult.Unreadable(ReadResult.Problem problem, String reason) ->
                    unreadable[index] = new UnreadableImage(subject.member(index), problem, reason);
            }
        });
        List<ImageFacts> readable = present(facts);
        List<UnreadableImage> lost = present(unreadable);
        List<ClassCount> classes = count(subject, readable);
        List<DuplicateGroup> duplicates = new DuplicateSearch(subject, readable).find();
        List<Finding> findings = new ArrayList<>(DatasetFindings.ofUnreadable(lost));
        if (dataset.notes().stream().noneMatch(note -> note.kind() == Note.Kind.SAMPLED)) {
            findings.addAll(DatasetFindings.ofClasses(classes));
        }
        findings.addAll(DatasetFindings.ofSplits(subject, readable));
        findings.addAll(DatasetFindings.ofDuplicates(
                duplicates, !subject.partitionings().isEmpty()));
        findings.addAll(ImageIssue.findings(subject, readable));
        dataset.notes().forEach(note -> findings.add(DatasetFindings.of(note)));
        findings.sort(Comparator.comparing(Finding::severity).thenComparing(Finding::kind));
        return new AuditReport(
                dataset.root().toString(),
                dataset.source().layout(),
                THRESHOLDS,
                subject.parts(),
                content(dataset, readable),
                classes,
                contents(readable),
                lost,
                duplicates,
                List.copyOf(findings));
    }

    private static String content(Dataset dataset, List<ImageFacts> readable) {
        MessageDigest digest = Sha256.digest();
        for (ImageFacts fact : readable) {
            byte[] name = dataset.samples().get(fact.index()).name().getBytes(StandardCharsets.UTF_8);
            digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(name.length).flip());
            digest.update(name);
            digest.update(HexFormat.of().parseHex(fact.digest()));
        }
        return Sha256.hex(digest.digest());
    }

    private static <T> List<T> present(T[] values) {
        return Arrays.stream(values).filter(Objects::nonNull).toList();
    }

    private static List<ClassCount> count(Input subject, List<ImageFacts> readable) {
        List<String> parts = subject.parts();
        List<Integer> all = subject.dataset().counts();
        int[] good = new int[all.size()];
        Integer[][] splits = new Integer[all.size()][parts.size()];
        for (Integer[] row : splits) {
            Arrays.fill(row, 0);
        }
        for (ImageFacts fact : readable) {
            int label = subject.label(fact.index());
            good[label]++;
            int part = parts.indexOf(subject.member(fact.index()).split());
            if (part >= 0) {
                splits[label][part]++;
            }
        }
        List<ClassCount> counts = new ArrayList<>();
        for (int i = 0; i < good.length; i++) {
            counts.add(new ClassCount(subject.dataset().classes().get(i), all.get(i), good[i], List.of(splits[i])));
        }
        return counts;
    }

    private static Contents contents(List<ImageFacts> facts) {
        return new Contents(
                facts.size(),
                spread(facts.stream().map(ImageFacts::width).toList()),
                spread(facts.stream().map(ImageFacts::height).toList()),
                countBy(facts, fact -> fact.origin().format()),
                countBy(facts, fact -> fact.origin().colour()),
                countBy(facts, fact -> fact.origin().bits()),
                (int) facts.stream().filter(ImageFacts::turned).count(),
                sizes(facts));
    }

    private static <K> SortedMap<K, Integer> countBy(List<ImageFacts> facts, Function<ImageFacts, K> key) {
        return facts.stream().collect(Collectors.toMap(key, _ -> 1, Integer::sum, TreeMap::new));
    }

    private static List<SizeCount> sizes(List<ImageFacts> facts) {
        SortedMap<Long, Integer> counts = countBy(facts, fact -> (long) fact.width() << 32 | fact.height());
        List<SizeCount> sizes = new ArrayList<>();
        counts.forEach((size, count) -> sizes.add(new SizeCount((int) (size >> 32), size.intValue(), count)));
        return List.copyOf(sizes);
    }

    private static Spread spread(List<Integer> numbers) {
        if (numbers.isEmpty()) {
            return new Spread(0, 0, 0);
        }
        List<Integer> sorted = numbers.stream().sorted().toList();
        return new Spread(sorted.getFirst(), sorted.get((sorted.size() - 1) / 2), sorted.getLast());
    }

    /** A dataset and its published splits: none, one, or several as DTD's ten. */
    record Input(Dataset dataset, List<Partitioning> partitionings) {
        Input(Dataset dataset) {
            this(dataset, Partitioning.of(dataset.assignment()));
        }

        AuditedImage member(int index) {
            Sample sample = dataset.samples().get(index);
            return new AuditedImage(
                    sample.name(),
                    dataset.className(sample),
                    partitionings.size() == 1 ? partitionings.getFirst().parts().get(index) : "");
        }

        int label(int index) {
            return dataset.samples().get(index).label();
        }

        /** Returns the parts of the only partitioning, in which classes are counted. */
        List<String> parts() {
            return partitionings.size() == 1 ? partitionings.getFirst().names() : List.of();
        }

        /** Returns the names of the partitionings that put images into different parts. */
        List<String> separating(Collection<Integer> images) {
            return partitionings.stream()
                    .filter(partitioning -> partitioning.separates(images))
                    .map(Partitioning::name)
                    .toList();
        }
    }

    /**
     * A partition of a dataset into train, validation and test set, folds, or physical samples.
     *
     * @param name its name, as {@code split 3}
     * @param parts the part of every image in the order of the dataset, as {@code train}; empty where it takes no part
     */
    record Partitioning(String name, List<String> parts, boolean complete) {
        static List<Partitioning> of(Assignment assignment) {
            return switch (assignment) {
                case Assignment.None() -> List.of();
                case Assignment.Splits splits ->
                    splits.splits().stream()
                            .map(split -> new Partitioning(
                                    "split " + split.name(),
                                    split.parts().stream()
                                            .map(Partitioning::word)
                                            .toList(),
                                    true))
                            .toList();
                case Assignment.Folds folds ->
                    List.of(new Partitioning(
                            "folds",
                            folds.numbers().stream().map(fold -> "fold " + fold).toList(),
                            false));
                case Assignment.Groups groups ->
                    List.of(new Partitioning(
                            "physical samples",
                            groups.letters().stream()
                                    .map(letter -> "sample " + letter)
                                    .toList(),
                            false));
            };
        }

        private static String word(SplitPart part) {
            return part == SplitPart.UNUSED ? "" : part.word();
        }

        List<String> names() {
            Stream<String> all = complete
                    ? Arrays.stream(SplitPart.values()).map(SplitPart::word)
                    : parts.stream().sorted();
            return all.distinct()
                    .filter(part -> !part.isEmpty() && parts.contains(part))
                    .toList();
        }

        boolean separates(Collection<Integer> images) {
            return images.stream()
                            .map(parts::get)
                            .filter(part -> !part.isEmpty())
                            .distinct()
                            .count()
                    > 1;
        }
    }

    /**
     * Finds duplicates and near-duplicates among images.
     *
     * <p>Images with equal pixels are grouped first, and only their files are compared byte by byte. Near-duplicates are then searched
     * among one image of each such group by hash, and confirmed by {@link ImageSignature#difference}. The relation is transitive, so
     * pairs in one group already are not compared. Images of a single colour are skipped: all look alike.
     */
    static final class DuplicateSearch {
        private final Input subject;
        private final List<List<ImageFacts>> equal;

        DuplicateSearch(Input subject, List<ImageFacts> facts) {
            this.subject = subject;
            Map<String, List<ImageFacts>> byPixels = new LinkedHashMap<>();
            facts.forEach(fact -> byPixels.computeIfAbsent(fact.digest(), _ -> new ArrayList<>())
                    .add(fact));
            equal = List.copyOf(byPixels.values());
        }

        /** Returns all groups, exact ones first, each kind in the order of the dataset. */
        List<DuplicateGroup> find() {
            List<DuplicateGroup> groups = new ArrayList<>();
            for (List<ImageFacts> copies : equal) {
                if (copies.size() > 1) {
                    boolean same = sameFiles(copies);
                    groups.add(group(
                            same ? DuplicateGroup.Kind.SAME_FILE : DuplicateGroup.Kind.SAME_PIXELS,
                            indices(copies),
                            0));
                }
            }
            groups.addAll(near());
            return List.copyOf(groups);
        }

        private List<DuplicateGroup> near() {
            List<List<ImageFacts>> textured = equal.stream()
                    .filter(copies -> copies.getFirst().range() > THRESHOLDS.flatRange())
                    .toList();
            List<ImageSignature> signatures = textured.stream()
                    .map(copies -> copies.getFirst().signature())
                    .toList();
            int[] parent = IntStream.range(0, signatures.size()).toArray();
            Map<Integer, Double> differences = new TreeMap<>();
            new NearHashes(signatures.stream().mapToLong(ImageSignature::hash).toArray(), THRESHOLDS.hashDistance())
                    .forEach((first, second) -> {
                        int one = root(parent, first);
                        int other = root(parent, second);
                        if (one == other) {
                            return;
                        }
                        double difference = signatures.get(first).difference(signatures.get(second));
                        if (difference <= THRESHOLDS.difference()) {
                            parent[Math.max(one, other)] = Math.min(one, other);
                            differences.merge(second, difference, Math::max);
                        }
                    });
            Map<Integer, List<Integer>> members = new TreeMap<>();
            for (int i = 0; i < parent.length; i++) {
                members.computeIfAbsent(root(parent, i), _ -> new ArrayList<>()).add(i);
            }
            return members.values().stream()
                    .filter(group -> group.size() > 1)
                    .map(group -> group(
                            DuplicateGroup.Kind.NEAR,
                            group.stream()
                                    .flatMap(i -> indices(textured.get(i)).stream())
                                    .toList(),
                            group.stream()
                                    .mapToDouble(i -> differences.getOrDefault(i, 0.0))
                                    .max()
                                    .orElse(0)))
                    .toList();
        }

        private DuplicateGroup group(DuplicateGroup.Kind kind, List<Integer> indices, double difference) {
            List<Integer> sorted = indices.stream().sorted().toList();
            boolean acrossClasses =
                    sorted.stream().map(subject::label).distinct().count() > 1;
            List<AuditedImage> members = sorted.stream().map(subject::member).toList();
            return new DuplicateGroup(kind, members, acrossClasses, subject.separating(sorted), difference);
        }

        private static List<Integer> indices(List<ImageFacts> copies) {
            return copies.stream().map(ImageFacts::index).toList();
        }

        /** A file that vanished since it was decoded counts as different. */
        private boolean sameFiles(List<ImageFacts> copies) {
            Path first = file(copies.getFirst());
            try {
                for (ImageFacts other : copies.subList(1, copies.size())) {
                    if (Files.mismatch(first, file(other)) >= 0) {
                        return false;
                    }
                }
                return true;
            } catch (IOException vanished) {
                return false;
            }
        }

        private Path file(ImageFacts facts) {
            return subject.dataset().samples().get(facts.index()).file();
        }

        /** Returns the smallest member of the set of an index in a forest of disjoint sets. */
        private static int root(int[] parent, int index) {
            int at = index;
            while (parent[at] != at) {
                parent[at] = parent[parent[at]]; // path halving
                at = parent[at];
            }
            return at;
        }

        /**
         * Finds all pairs of 64-bit hashes that differ in few bits, without comparing each with each.
         *
         * <p>A hash is four bands of 16 bits. Where two hashes differ in at most 7 bits, some band differs in at most one, so
         * looking up every band, and each band with one bit flipped, finds all pairs (Norouzi, Punjani and Fleet, "Fast Search in
         * Hamming Space with Multi-Index Hashing", CVPR 2012). For {@code n} uniform hashes this takes {@code 68·n} lookups of
         * {@code n / 65536} hashes each. Clustered hashes, as of a fixed camera, are compared pairwise.
         */
        static final class NearHashes {
            private static final int BANDS = 4;
            private static final int BITS = 16;
            private static final int VALUES = 1 << BITS;

            private final long[] hashes;
            private final int distance;

            NearHashes(long[] hashes, int distance) {
                this.hashes = hashes;
                this.distance = distance;
            }

            /** Receives a pair of near hashes, the smaller index first. */
            @FunctionalInterface
            interface Pair {
                void found(int first, int second);
            }

            /** Passes on every pair once, in an order that depends on the hashes only. */
            void forEach(Pair pair) {
                for (int band = 0; band < BANDS; band++) {
                    int[] start = starts(band);
                    int[] sorted = sorted(band, start);
                    long[] sortedHashes = new long[sorted.length]; // contiguous, which halves the time of a bucket
                    Arrays.setAll(sortedHashes, i -> hashes[sorted[i]]);
                    for (int i = 0; i < hashes.length; i++) {
                        int value = band(hashes[i], band);
                        for (int bit = -1; bit < BITS; bit++) {
                            int bucket = bit < 0 ? value : value ^ 1 << bit;
                            int end = start[bucket + 1];
                            for (int k = start[bucket]; k < end && sorted[k] < i; k++) { // indexes ascend in a bucket
                                long differing = hashes[i] ^ sortedHashes[k];
                                if (Long.bitCount(differing) <= distance && isFirst(band, differing)) {
                                    pair.found(sorted[k], i);
                                }
                            }
                        }
                    }
                }
            }

            /** Returns whether no band before this one finds the pair. */
            private static boolean isFirst(int band, long differing) {
                for (int before = 0; before < band; before++) {
                    if (Integer.bitCount(band(differing, before)) <= 1) {
                        return false;
                    }
                }
                return true;
            }

            /** Returns where each value of a band begins among the hashes sorted by it. */
            private int[] starts(int band) {
                int[] start = new int[VALUES + 1];
                for (long hash : hashes) {
                    start[band(hash, band) + 1]++;
                }
                for (int value = 0; value < VALUES; value++) {
                    start[value + 1] += start[value];
                }
                return start;
            }

            private int[] sorted(int band, int[] start) {
                int[] next = start.clone();
                int[] sorted = new int[hashes.length];
                for (int i = 0; i < hashes.length; i++) {
                    sorted[next[band(hashes[i], band)]++] = i;
                }
                return sorted;
            }

            private static int band(long hash, int band) {
                return (int) (hash >>> (band * BITS)) & (VALUES - 1);
            }
        }
    }
}
