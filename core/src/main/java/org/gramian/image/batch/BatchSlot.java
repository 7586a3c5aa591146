package org.gramian.image.batch;

import java.util.Optional;
import org.gramian.image.ReadResult.Unreadable;

/**
 * A crop in a batch.
 *
 * @param request index into the list of requests
 * @param crop index into the crops of the image
 * @param problem why the image could not be read; the crop is zero then
 */
public record BatchSlot(int request, int crop, Optional<Unreadable> problem) {}
