package org.gramian.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Folder of a run's features: a cache shared with other runs, or a folder that is removed with the run.
 *
 * @param cache the folder
 * @param own whether it is removed at the end
 */
public record RunScratch(Path cache, boolean own) implements AutoCloseable {
    /** Returns the shared cache, or else a folder inside the run's. */
    public static RunScratch in(Path folder, Optional<Path> shared) {
        return new RunScratch(shared.orElse(folder.resolve(".features")), shared.isEmpty());
    }

    @Override
    public void close() throws IOException {
        if (own && Files.exists(cache)) {
            List<Path> all;
            try (Stream<Path> found = Files.walk(cache)) {
                all = found.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path path : all) {
                Files.delete(path);
            }
        }
    }
}
