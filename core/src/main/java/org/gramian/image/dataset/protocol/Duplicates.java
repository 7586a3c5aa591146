package org.gramian.image.dataset.protocol;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.gramian.basis.Sha256;
import org.gramian.image.dataset.Dataset;

/**
 * Samples that must not be on both sides of a split: byte-identical files, and near-duplicates found by an audit.
 *
 * @param groups identical files: indexes into {@link Dataset#samples}, two or more in a group, groups disjoint
 * @param uncompared samples whose files could not be opened
 * @param near groups of near-duplicates, which may share samples with {@code groups}; random splits keep them together, too
 * @since 0.1
 */
public record Duplicates(List<List<Integer>> groups, List<Integer> uncompared, List<List<Integer>> near) {
    public static final Duplicates NONE = new Duplicates(List.of(), List.of());

    public Duplicates {
        groups = groups.stream().map(List::copyOf).toList();
        uncompared = List.copyOf(uncompared);
        near = near.stream().map(List::copyOf).toList();
        requireApart(groups);
        requireApart(near);
    }

    /** Identical files only. */
    public Duplicates(List<List<Integer>> groups, List<Integer> uncompared) {
        this(groups, uncompared, List.of());
    }

    private static void requireApart(List<List<Integer>> groups) {
        Set<Integer> seen = new HashSet<>();
        for (List<Integer> group : groups) {
            if (group.size() < 2 || !group.stream().allMatch(seen::add)) {
                throw new IllegalArgumentException(
                        "expected groups of two or more samples, no sample in two of them, found " + group);
            }
        }
    }

    /** Returns these duplicates with other near-duplicates. */
    public Duplicates with(List<List<Integer>> nearGroups) {
        return new Duplicates(groups, uncompared, nearGroups);
    }

    /** Returns the groups that a random split keeps together: both kinds, joined where they share a sample, ascending. */
    public List<List<Integer>> together() {
        if (near.isEmpty()) {
            return groups;
        }
        Map<Integer, List<Integer>> groupOf = new HashMap<>();
        for (List<Integer> group : Stream.concat(groups.stream(), near.stream()).toList()) {
            TreeSet<Integer> joined = new TreeSet<>(group);
            group.forEach(index -> joined.addAll(groupOf.getOrDefault(index, List.of())));
            List<Integer> whole = List.copyOf(joined);
            whole.forEach(index -> groupOf.put(index, whole));
        }
        return groupOf.values().stream()
                .distinct()
                .sorted(Comparator.comparing(List::getFirst))
                .toList();
    }

    /**
     * Returns the duplicates among some samples.
     *
     * @param indexes the samples; indexes of the result refer to this list
     */
    public Duplicates within(List<Integer> indexes) {
        Map<Integer, Integer> place = new HashMap<>();
        indexes.forEach(index -> place.put(index, place.size()));
        return new Duplicates(
                within(groups, place),
                uncompared.stream().filter(place::containsKey).map(place::get).toList(),
                within(near, place));
    }

    private static List<List<Integer>> within(List<List<Integer>> groups, Map<Integer, Integer> place) {
        List<List<Integer>> some = new ArrayList<>();
        for (List<Integer> group : groups) {
            List<Integer> present = group.stream()
                    .filter(place::containsKey)
                    .map(place::get)
                    .sorted()
                    .toList();
            if (present.size() > 1) {
                some.add(present);
            }
        }
        some.sort(Comparator.comparing(List::getFirst));
        return some;
    }

    /**
     * Compares the files of a dataset by size, and by SHA-256 where sizes are equal. Empty files are skipped.
     */
    public static Duplicates of(Dataset dataset) {
        Map<Long, List<Integer>> bySize = new TreeMap<>();
        List<Integer> uncompared = new ArrayList<>();
        for (int i = 0; i < dataset.samples().size(); i++) {
            try {
                long size = Files.size(dataset.samples().get(i).file());
                bySize.computeIfAbsent(size, _ -> new ArrayList<>()).add(i);
            } catch (IOException unreadable) {
                uncompared.add(i); // the decoder reports the reason
            }
        }
        bySize.remove(0L);
        List<List<Integer>> groups = new ArrayList<>();
        for (List<Integer> sameSize : bySize.values()) {
            if (sameSize.size() > 1) {
                groups.addAll(sameContent(dataset, sameSize, uncompared));
            }
        }
        groups.sort(Comparator.comparing(List::getFirst));
        return new Duplicates(groups, uncompared);
    }

    private static List<List<Integer>> sameContent(Dataset dataset, List<Integer> sameSize, List<Integer> uncompared) {
        Map<String, List<Integer>> byContent = new TreeMap<>();
        for (int index : sameSize) {
            try {
                String content =
                        Sha256.hex(Sha256.of(dataset.samples().get(index).file()));
                byContent.computeIfAbsent(content, _ -> new ArrayList<>()).add(index);
            } catch (IOException unreadable) {
                uncompared.add(index);
            }
        }
        return byContent.values().stream().filter(group -> group.size() > 1).toList();
    }
}
