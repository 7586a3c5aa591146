package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import org.gramian.image.dataset.Dataset;

/** {@code cub-official}: the published split of CUB-200-2011 into train and test. */
public record CubOfficial() implements Official {
    static final String LAYOUT = "cub-200-2011";

    @Override
    public String text() {
        return "cub-official";
    }

    @Override
    public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
        return PublishedSplits.wrongLayout(dataset, LAYOUT);
    }

    @Override
    public List<Fold> folds(Dataset dataset) {
        return PublishedSplits.official(dataset);
    }
}
