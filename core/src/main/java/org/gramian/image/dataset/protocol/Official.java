package org.gramian.image.dataset.protocol;

import java.util.List;
import org.gramian.image.dataset.Dataset;

/**
 * A protocol whose folds the dataset itself lays down. Identical files on both sides of such a split are not moved,
 * or results would not be comparable with published ones; the plan's notes name them.
 */
public sealed interface Official extends Protocol
        permits Given, DtdOfficial, KthSamples, CubOfficial, AircraftOfficial {
    /** The folds; no seed is needed. */
    List<Fold> folds(Dataset dataset);

    @Override
    default List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
        return folds(dataset);
    }
}
