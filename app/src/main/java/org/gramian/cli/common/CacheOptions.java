package org.gramian.cli.common;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureRecipe;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of the feature cache. */
public final class CacheOptions {
    @Option(
            names = "--cache-dir",
            paramLabel = "DIR",
            description = "feature cache (default: the folder 'features' of GRAMIAN_CACHE)")
    private @Nullable Path folder;

    @Option(names = "--no-cache", description = "neither read nor write the feature cache")
    private boolean none;

    public void check() {
        if (none && folder != null) {
            throw new IllegalArgumentException("expected --cache-dir or --no-cache, found both");
        }
    }

    /** Returns the folder of the cache; empty with {@code --no-cache}. */
    public Optional<Path> root() {
        return none ? Optional.empty() : Optional.of(folder == null ? FeatureCache.defaultRoot() : folder);
    }

    /** Opens the cache of a recipe; null with {@code --no-cache}. */
    @Nullable
    public FeatureCache open(FeatureRecipe recipe, Consumer<String> warnings) throws IOException {
        Optional<Path> root = root();
        return root.isEmpty() ? null : FeatureCache.open(root.get(), recipe, warnings);
    }
}
