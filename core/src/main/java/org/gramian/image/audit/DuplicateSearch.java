package org.gramian.image.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Finds duplicates and near-duplicates among images.
 *
 * <p>Equal pixels come first: equal files show equal pixels, so only files whose pixels are equal have to be compared byte
 * by byte. Near-duplicates are then searched among one image of each such group, by hash, and confirmed by sketch; a near
 * copy of a near copy belongs to the group, so that two that are in one group already need not be compared: thousands of
 * frames of a fixed camera cost little more than as many others. Images of a single colour are left out there: all look
 * alike.
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

    /** All groups: exact ones, then near ones, each kind in the order of the dataset. */
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
        List<ImageSignature> sketches =
                textured.stream().map(copies -> copies.getFirst().sketch()).toList();
        Groups groups = new Groups(sketches.size());
        Map<Integer, Double> differences = new TreeMap<>();
        new NearHashes(sketches.stream().mapToLong(ImageSignature::hash).toArray(), options.hashDistance())
                .forEach((first, second) -> {
                    if (groups.of(first) == groups.of(second)) {
                        return;
                    }
                    double difference = sketches.get(first).difference(sketches.get(second));
                    if (difference <= options.difference()) {
                        groups.join(first, second);
                        differences.merge(second, difference, Math::max);
                    }
                });
        Map<Integer, Near> near = new TreeMap<>();
        for (int i = 0; i < textured.size(); i++) {
            near.computeIfAbsent(groups.of(i), _ -> new Near()).add(textured.get(i), differences.getOrDefault(i, 0.0));
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
        return new DuplicateGroup(kind, members, acrossClasses, subject.dividing(sorted), difference);
    }

    private static List<Integer> indices(List<ImageStatistics> copies) {
        return copies.stream().map(ImageStatistics::index).toList();
    }

    /** A file that vanished since it was decoded counts as different: its pixels were equal, its bytes are unknown. */
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
}
