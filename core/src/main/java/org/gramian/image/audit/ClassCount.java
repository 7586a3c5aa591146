package org.gramian.image.audit;

import java.util.List;

/**
 * Number of images of a class.
 *
 * @param name the class
 * @param images all images
 * @param readable readable images
 * @param splits readable images in each part of {@link AuditReport#splits}, in that order
 */
public record ClassCount(String name, int images, int readable, List<Integer> splits) {
    public ClassCount {
        splits = List.copyOf(splits);
    }
}
