package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Split;

/**
 * {@code dtd-official:1..10}: the published splits of DTD, 40 images of every class each to train, to validate and to
 * test; or some of them, as {@code dtd-official:1} or {@code dtd-official:1..3}. The validation third stays apart; see
 * {@link Fold#withValidationInTraining}.
 *
 * @param first the first split, from 1
 * @param last the last split
 */
public record DtdOfficial(int first, int last) implements Official {
    static final String LAYOUT = "dtd";

    /** As many as are published. */
    static final int PUBLISHED = 10;

    public DtdOfficial {
        Protocols.requireBetween("dtd-official", first, 1, PUBLISHED);
        Protocols.requireBetween("dtd-official:" + first + ".." + last, last, first, PUBLISHED);
    }

    @Override
    public String text() {
        return "dtd-official:" + first + (first == last ? "" : ".." + last);
    }

    @Override
    public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
        List<String> names =
                PublishedSplits.of(dataset).stream().map(Split::name).toList();
        return PublishedSplits.wrongLayout(dataset, LAYOUT)
                .or(() -> IntStream.rangeClosed(first, last)
                        .filter(number -> !names.contains(Integer.toString(number)))
                        .mapToObj(number -> "it needs the lists of split " + number + ", found the lists of "
                                + String.join(", ", names))
                        .findFirst());
    }

    @Override
    public List<Fold> folds(Dataset dataset) {
        return PublishedSplits.of(dataset).stream()
                .filter(split -> isWanted(Integer.parseInt(split.name())))
                .map(split -> PublishedSplits.fold(split, "split " + split.name()))
                .toList();
    }

    private boolean isWanted(int number) {
        return number >= first && number <= last;
    }
}
