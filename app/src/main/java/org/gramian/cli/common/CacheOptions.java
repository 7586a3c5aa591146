package org.gramian.cli.common;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.train.feature.FeatureCache;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the feature cache. */
public final class CacheOptions {
    private static final String NONE = "--no-cache";
    private static final String FOLDER = "--cache-dir";

    @Option(names = FOLDER, paramLabel = "DIR", description = "feature cache (default: 'features' in GRAMIAN_CACHE)")
    private @Nullable Path folder;

    @Option(names = NONE, description = "neither read nor write the feature cache")
    private boolean none;

    public void check() {
        if (none && folder != null) {
            throw new IllegalArgumentException("expected --cache-dir or --no-cache, found both");
        }
    }

    /** Returns the typed options as lines of a text file; the folder is absolute. */
    public List<String> lines() {
        if (none) {
            return List.of(NONE);
        }
        return folder == null
                ? List.of()
                : List.of(FOLDER + " " + folder.toAbsolutePath().normalize());
    }

    /** Takes the options of a resumed run from its {@link #lines}, unless some are typed. */
    public void resume(List<String> lines) {
        if (none || folder != null) {
            return;
        }
        none = lines.contains(NONE);
        folder = lines.stream()
                .filter(line -> line.startsWith(FOLDER + " "))
                .map(line -> Path.of(line.substring(FOLDER.length() + 1)))
                .findFirst()
                .orElse(null);
    }

    /** Returns the folder of the cache; empty with {@code --no-cache}. */
    public Optional<Path> root() {
        return none ? Optional.empty() : Optional.of(folder == null ? FeatureCache.defaultRoot() : folder);
    }
}
