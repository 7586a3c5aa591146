package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import org.gramian.image.dataset.Dataset;

/**
 * A named way to split a dataset into folds of train, validation and test sets. A result is comparable only with others under
 * the same protocol.
 *
 * <p>A protocol draws the folds at random, or takes the official ones of the dataset. {@link Protocols} lists all.
 */
public sealed interface Protocol permits RandomProtocol, OfficialProtocol {
    /** Returns the protocol as text, such as {@code kfold:5}; {@link Protocols#parse} reads it back. */
    String text();

    /** Returns whether it draws the folds at random; else it takes them from the dataset. */
    boolean isRandom();

    /** Returns why the protocol cannot split this dataset, as the end of a sentence; empty if it can. */
    Optional<String> incompatibility(Dataset dataset, Duplicates duplicates);

    /** Returns the folds, in order; for datasets without a {@link #incompatibility}. */
    List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed);

    /**
     * Splits a dataset.
     *
     * @param duplicates samples that must stay together, see {@link Duplicates#of}
     * @param seed used if it {@linkplain #isRandom draws} the folds
     * @throws IllegalArgumentException if the protocol does not fit the dataset; the message names protocols that do
     */
    default FoldSet plan(Dataset dataset, Duplicates duplicates, long seed) {
        if (dataset.classes().size() < 2) {
            throw new IllegalArgumentException("expected a dataset of at least 2 classes, found "
                    + (dataset.classes().isEmpty()
                            ? "none"
                            : "only '" + dataset.classes().getFirst() + "'"));
        }
        Optional<String> incompatibility = incompatibility(dataset, duplicates);
        if (incompatibility.isPresent()) {
            List<String> compatible = Protocols.compatible(dataset, duplicates);
            String advice = compatible.isEmpty()
                    ? "every class needs at least 2 different images"
                    : "protocols that fit: " + String.join(", ", compatible);
            throw new IllegalArgumentException(
                    "the protocol " + text() + " does not fit this dataset: " + incompatibility.get() + "; " + advice);
        }
        return FoldSet.of(this, dataset, duplicates, seed);
    }
}
