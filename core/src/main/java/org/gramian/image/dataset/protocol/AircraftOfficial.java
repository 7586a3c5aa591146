package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import org.gramian.image.dataset.Dataset;

/**
 * {@code aircraft-official}: the published split of FGVC-Aircraft into train, validation and test;
 * {@code aircraft-official:trainval} trains on the first two together.
 *
 * @param withValidation whether the validation images train too
 */
public record AircraftOfficial(boolean withValidation) implements Official {
    static final String LAYOUT = "fgvc-aircraft";
    static final String TRAINVAL = "trainval";

    @Override
    public String text() {
        return "aircraft-official" + (withValidation ? ":" + TRAINVAL : "");
    }

    @Override
    public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
        return PublishedSplits.wrongLayout(dataset, LAYOUT);
    }

    @Override
    public List<Fold> folds(Dataset dataset) {
        return PublishedSplits.official(dataset).stream()
                .map(fold -> withValidation ? fold.withValidationInTraining() : fold)
                .toList();
    }
}
