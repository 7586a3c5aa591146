package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.feature.FeatureRecipe;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of every command that computes features: where they are kept, if they are. */
final class CacheOptions {
    @Option(
            names = "--cache-dir",
            paramLabel = "DIR",
            description = "where features are kept (default: the folder 'features' of GRAMIAN_CACHE)")
    private @Nullable Path folder;

    @Option(names = "--no-cache", description = "neither use features that were kept nor keep new ones")
    private boolean none;

    void check() {
        if (none && folder != null) {
            throw new IllegalArgumentException("--cache-dir and --no-cache exclude each other");
        }
    }

    /** The folder of caches; nothing where none is wanted. */
    Optional<Path> root() {
        return none ? Optional.empty() : Optional.of(folder == null ? FeatureCache.defaultRoot() : folder);
    }

    /** The cache for a recipe; nothing where none is wanted. */
    @Nullable
    FeatureCache open(FeatureRecipe recipe, Consumer<String> warnings) throws IOException {
        Optional<Path> root = root();
        return root.isEmpty() ? null : FeatureCache.open(root.get(), recipe, warnings);
    }
}
