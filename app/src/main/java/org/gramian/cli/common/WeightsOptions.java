package org.gramian.cli.common;

import java.nio.file.Path;
import org.gramian.backbone.weights.WeightStore;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --weights-dir}: the folder of installed weights. */
public final class WeightsOptions {
    @Option(
            names = "--weights-dir",
            paramLabel = "DIR",
            description = "folder of weights (default: GRAMIAN_WEIGHTS, else 'weights' in the cache folder)")
    private @Nullable Path folder;

    public WeightStore store() {
        return folder == null ? WeightStore.ofProcess() : new WeightStore(folder);
    }
}
