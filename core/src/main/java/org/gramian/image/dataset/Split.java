package org.gramian.image.dataset;

import java.util.List;

/**
 * One published split of a dataset.
 *
 * @param name its name in the dataset, as {@code 3} for DTD's third, or {@code given} where there is one only
 * @param parts the part of every sample, in the order of {@link Dataset#samples}
 */
public record Split(String name, List<Part> parts) {
    public Split {
        parts = List.copyOf(parts);
    }
}
