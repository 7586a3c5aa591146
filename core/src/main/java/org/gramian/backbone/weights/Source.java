package org.gramian.backbone.weights;

import java.nio.file.Path;

/**
 * A file of weights and what it is called, which for one that is not installed yet is not its name on the disk.
 *
 * @param path where it lies
 * @param name for the records
 */
record Source(Path path, String name) {
    static Source of(Path path) {
        return new Source(path, String.valueOf(path.getFileName()));
    }
}
