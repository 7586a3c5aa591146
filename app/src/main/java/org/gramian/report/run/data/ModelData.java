package org.gramian.report.run.data;

import java.nio.file.Path;
import org.gramian.model.ModelHeader;

/**
 * Model file without its parameters.
 *
 * @param file path as given
 * @param bytes file size
 * @param header metadata
 */
public record ModelData(Path file, long bytes, ModelHeader header) {}
