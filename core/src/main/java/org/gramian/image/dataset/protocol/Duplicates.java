package org.gramian.image.dataset.protocol;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.gramian.basis.Sha256;
import org.gramian.image.dataset.Dataset;

/**
 * Samples whose files are identical byte for byte: they must not be on both sides of a split, or a model is tested on
 * what it has learned by heart.
 *
 * @param groups indexes into {@link Dataset#samples}, two or more in a group, no index in two groups
 * @param uncompared samples whose files could not be opened
 */
public record Duplicates(List<List<Integer>> groups, List<Integer> uncompared) {
    /** No duplicates, or none that anybody looked for. */
    public static final Duplicates NONE = new Duplicates(List.of(), List.of());

    public Duplicates {
        groups = groups.stream().map(List::copyOf).toList();
        uncompared = List.copyOf(uncompared);
        Set<Integer> seen = new HashSet<>();
        for (List<Integer> group : groups) {
            if (group.size() < 2 || !group.stream().allMatch(seen::add)) {
                throw new IllegalArgumentException(
                        "expected groups of two or more samples, no sample in two of them, found " + group);
            }
        }
    }

    /**
     * Compares the files of a data set: by size, and by SHA-256 where sizes are equal. Empty files are left out; they
     * hold no picture to learn by heart.
     */
    public static Duplicates of(Dataset dataset) {
        Map<Long, List<Integer>> bySize = new TreeMap<>();
        List<Integer> uncompared = new ArrayList<>();
        for (int i = 0; i < dataset.samples().size(); i++) {
            try {
                long size = Files.size(dataset.samples().get(i).file());
                bySize.computeIfAbsent(size, _ -> new ArrayList<>()).add(i);
            } catch (IOException unreadable) {
                uncompared.add(i); // the decoder says why; here it is counted
            }
        }
        bySize.remove(0L);
        List<List<Integer>> groups = new ArrayList<>();
        for (List<Integer> sameSize : bySize.values()) {
            if (sameSize.size() > 1) {
                groups.addAll(sameContent(dataset, sameSize, uncompared));
            }
        }
        groups.sort((a, b) -> Integer.compare(a.getFirst(), b.getFirst()));
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
