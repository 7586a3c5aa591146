package org.gramian.image.audit;

import java.util.List;

/**
 * How many pictures a class has.
 *
 * @param name the class
 * @param pictures all of them
 * @param readable those that could be read
 * @param splits readable pictures in each part of {@link AuditReport#splits}, in that order
 */
public record ClassCount(String name, int pictures, int readable, List<Integer> splits) {
    public ClassCount {
        splits = List.copyOf(splits);
    }
}
