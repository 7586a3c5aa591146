package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;

/** Makes folds of the splits that a dataset was published with. */
final class PublishedSplits {
    private PublishedSplits() {}

    /** The splits of a dataset that has some. */
    static List<Split> of(Dataset dataset) {
        return dataset.assignment() instanceof Assignment.Splits(List<Split> splits) ? splits : List.of();
    }

    /** The one fold of a dataset that was published with one split. */
    static List<Fold> official(Dataset dataset) {
        return of(dataset).stream().map(split -> fold(split, "official")).toList();
    }

    /** Why a dataset is not of the layout that a protocol belongs to, if so. */
    static Optional<String> wrongLayout(Dataset dataset, String layout) {
        return dataset.source().layoutName().equals(layout)
                ? Optional.empty()
                : Optional.of("it belongs to the layout " + layout + ", found the layout "
                        + dataset.source().layoutName());
    }

    /** A published split as a fold. */
    static Fold fold(Split split, String name) {
        return new Fold(name, in(split, Part.TRAIN), in(split, Part.VALIDATION), in(split, Part.TEST));
    }

    private static List<Integer> in(Split split, Part part) {
        return IntStream.range(0, split.parts().size())
                .filter(index -> split.parts().get(index) == part)
                .boxed()
                .toList();
    }
}
