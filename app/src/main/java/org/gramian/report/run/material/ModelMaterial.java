package org.gramian.report.run.material;

import java.nio.file.Path;
import org.gramian.model.ModelHeader;

/**
 * A model's file, without its numbers.
 *
 * @param file where it is, as it was named
 * @param bytes its size
 * @param header what it says of itself
 */
public record ModelMaterial(Path file, long bytes, ModelHeader header) {}
