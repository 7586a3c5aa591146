package org.gramian.image.audit;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * How many images a class has.
 *
 * @param name the class
 * @param images all of them
 * @param readable those that could be read
 * @param splits readable images in each part of {@link AuditReport#splits}, in that order
 */
public record ClassCount(
        String name, @JsonProperty("pictures") int images, int readable, List<Integer> splits) {
    public ClassCount {
        splits = List.copyOf(splits);
    }
}
