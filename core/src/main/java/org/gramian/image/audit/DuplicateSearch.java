package org.gramian.image.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.gramian.image.audit.AuditReport.AuditedImage;

/**
 * Finds duplicates and near-duplicates among images.
 *
 * <p>Images with equal pixels are grouped first, and only their files are compared byte by byte. Near-duplicates are then searched
 * among one image of each such group by hash, and confirmed by {@link ImageSignature#difference}. The relation is transitive, so
 * pairs in one group already are not compared. Images of a single colour are skipped: all look alike.
 */
final class DuplicateSearch {
    private final AuditInput subject;
    private final AuditOptions options;
    private final List<List<ImageStatistics>> equal;

    DuplicateSearch(AuditInput subject, List<ImageStatistics> facts, AuditOptions options) {
        this.subject = subject;
        this.options = options;
        Map<ImageStatistics.Digest, List<ImageStatistics>> byPixels = new LinkedHashMap<>();
        facts.forEach(fact ->
                byPixels.computeIfAbsent(fact.digest(), _ -> new ArrayList<>()).add(fact));
        equal = List.copyOf(byPixels.values());
    }

    /** Returns all groups, exact ones first, each kind in the order of the dataset. */
    List<DuplicateGroup> find() {
        List<DuplicateGroup> groups = new ArrayList<>();
        for (List<ImageStatistics> copies : equal) {
            if (copies.size() > 1) {
                boolean same = sameFiles(copies);
                groups.add(group(
                        same ? DuplicateGroup.Kind.SAME_FILE : DuplicateGroup.Kind.SAME_PIXELS, indices(copies), 0));
            }
        }
        groups.addAll(near());
        return List.copyOf(groups);
    }

    private List<DuplicateGroup> near() {
        List<List<ImageStatistics>> textured = equal.stream()
                .filter(copies -> copies.getFirst().range() > options.flatRange())
                .toList();
        List<ImageSignature> signatures =
                textured.stream().map(copies -> copies.getFirst().signature()).toList();
        UnionFind groups = new UnionFind(signatures.size());
        Map<Integer, Double> differences = new TreeMap<>();
        new NearHashes(signatures.stream().mapToLong(ImageSignature::hash).toArray(), options.hashDistance())
                .forEach((first, second) -> {
                    if (groups.find(first) == groups.find(second)) {
                        return;
                    }
                    double difference = signatures.get(first).difference(signatures.get(second));
                    if (difference <= options.difference()) {
                        groups.union(first, second);
                        differences.merge(second, difference, Math::max);
                    }
                });
        Map<Integer, Near> near = new TreeMap<>();
        for (int i = 0; i < textured.size(); i++) {
            near.computeIfAbsent(groups.find(i), _ -> new Near())
                    .add(textured.get(i), differences.getOrDefault(i, 0.0));
        }
        return near.values().stream()
                .filter(found -> found.kinds > 1)
                .map(found -> group(DuplicateGroup.Kind.NEAR, found.indices, found.difference))
                .toList();
    }

    /** A group of near-duplicates while it is collected. */
    private static final class Near {
        private final List<Integer> indices = new ArrayList<>();
        private int kinds;
        private double difference;

        void add(List<ImageStatistics> copies, double toFormer) {
            indices.addAll(indices(copies));
            kinds++;
            difference = Math.max(difference, toFormer);
        }
    }

    private DuplicateGroup group(DuplicateGroup.Kind kind, List<Integer> indices, double difference) {
        List<Integer> sorted = indices.stream().sorted().toList();
        boolean acrossClasses = sorted.stream().map(subject::label).distinct().count() > 1;
        List<AuditedImage> members = sorted.stream().map(subject::member).toList();
        return new DuplicateGroup(kind, members, acrossClasses, subject.separating(sorted), difference);
    }

    private static List<Integer> indices(List<ImageStatistics> copies) {
        return copies.stream().map(ImageStatistics::index).toList();
    }

    /** A file that vanished since it was decoded counts as different. */
    private boolean sameFiles(List<ImageStatistics> copies) {
        Path first = file(copies.getFirst());
        try {
            for (ImageStatistics other : copies.subList(1, copies.size())) {
                if (Files.mismatch(first, file(other)) >= 0) {
                    return false;
                }
            }
            return true;
        } catch (IOException vanished) {
            return false;
        }
    }

    private Path file(ImageStatistics facts) {
        return subject.dataset().samples().get(facts.index()).file();
    }

    /** Disjoint sets of indexes. */
    private static final class UnionFind {
        private final int[] parent;

        UnionFind(int size) {
            parent = new int[size];
            for (int i = 0; i < size; i++) {
                parent[i] = i;
            }
        }

        /** Returns the smallest member of the set of an index. */
        int find(int index) {
            int at = index;
            while (parent[at] != at) {
                parent[at] = parent[parent[at]]; // path halving
                at = parent[at];
            }
            return at;
        }

        void union(int one, int other) {
            int a = find(one);
            int b = find(other);
            parent[Math.max(a, b)] = Math.min(a, b);
        }
    }
}
