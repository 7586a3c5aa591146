package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;

/**
 * {@code given}: the folds that come with the dataset, all of them: folders {@code train}, {@code val}, {@code test},
 * published lists, or the fold column of a CSV file, where fold {@code i} tests the images of number {@code i} and
 * trains on all others.
 */
public record Given() implements Official {
    @Override
    public String text() {
        return "given";
    }

    @Override
    public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
        return switch (dataset.assignment()) {
            case Assignment.Splits(List<Split> splits) ->
                splits.stream()
                        .filter(split -> !split.parts().containsAll(List.of(Part.TRAIN, Part.TEST)))
                        .map(split -> "its split '" + split.name() + "' has no "
                                + (split.parts().contains(Part.TRAIN) ? "test images" : "training images"))
                        .findFirst();
            case Assignment.Folds(List<Integer> numbers) ->
                numbers.stream().distinct().count() > 1
                        ? Optional.empty()
                        : Optional.of("all its images have the same fold number");
            case Assignment.Groups _ -> Optional.of("it has physical samples but no train and test sets");
            case Assignment.None() ->
                Optional.of("it comes with no folds (no train and test folders, no lists, no fold column)");
        };
    }

    @Override
    public List<Fold> folds(Dataset dataset) {
        return switch (dataset.assignment()) {
            case Assignment.Splits(List<Split> splits) ->
                splits.stream()
                        .map(split -> PublishedSplits.fold(
                                split, splits.size() == 1 ? split.name() : "split " + split.name()))
                        .toList();
            case Assignment.Folds(List<Integer> numbers) -> {
                int[] bins = numbers.stream().mapToInt(number -> number).toArray();
                yield numbers.stream()
                        .distinct()
                        .sorted()
                        .map(number -> Bins.testing(bins, number, "fold " + number))
                        .toList();
            }
            case Assignment.Groups _, Assignment.None _ -> List.of();
        };
    }
}
