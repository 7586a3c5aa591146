package org.gramian.run;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.EvaluationFolder;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.Holdout;
import org.gramian.train.loop.TrainingData.Parts;

/**
 * One fold of a run, of readable images alone, with some training images held back to judge epochs by.
 *
 * @param place where it is kept in the run's folder; empty for the only fold, which is the run itself
 * @param name as {@code third 2}
 * @param parts who trains, judges and tests
 */
public record FoldPlan(String place, String name, Parts parts) {
    /** Images that every class needs for one to be held back. */
    private static final int LEAST = 2;

    /**
     * Divides the training images of a fold, unless its protocol says itself who judges. Nobody judges where nothing is to
     * be held back: validation images of the protocol are left out then.
     *
     * @param readable indexes of the images that can be read
     * @throws UnfitDataException if a class has nothing to train on
     */
    static FoldPlan of(Dataset dataset, Placed placed, Set<Integer> readable, HoldingBack holding) {
        Fold fold = placed.fold;
        List<Integer> train = fold.train().stream().filter(readable::contains).toList();
        List<Sample> training = pick(dataset.samples(), train);
        List<Sample> judging = holding.share == 0 ? List.of() : samples(dataset, fold.validation(), readable);
        List<Sample> test = samples(dataset, fold.test(), readable);
        requireEveryClass(dataset, fold, training);
        if (!judging.isEmpty() || holding.share == 0) {
            return new FoldPlan(placed.place, fold.name(), new Parts(training, judging, test));
        }
        Dataset part = new Dataset(dataset.root(), dataset.classes(), training);
        Holdout holdout = new Holdout(holding.share);
        Duplicates all = holding.duplicates.within(train);
        Duplicates copies = holdout.misfit(part, all).isPresent() ? all.with(List.of()) : all;
        if (part.counts().stream().anyMatch(count -> count < LEAST)
                || holdout.misfit(part, copies).isPresent()) {
            holding.remarks.accept(QuotedText.text(fold.name()) + " has a class with fewer than " + LEAST
                    + " distinct training images, so there is no validation set: epochs are compared by training loss");
            return new FoldPlan(placed.place, fold.name(), new Parts(training, List.of(), test));
        }
        Fold divided = holdout.folds(part, copies, holding.seed).getFirst();
        return new FoldPlan(
                placed.place,
                fold.name(),
                new Parts(pick(training, divided.train()), pick(training, divided.test()), test));
    }

    /** A fold and where it is kept. */
    record Placed(String place, Fold fold) {
        static List<Placed> all(List<Fold> folds) {
            return IntStream.range(0, folds.size())
                    .mapToObj(i -> new Placed(folds.size() == 1 ? "" : EvaluationFolder.fold(i + 1), folds.get(i)))
                    .toList();
        }
    }

    /**
     * How the validation set is drawn from the training images.
     *
     * @param share of the training images; 0: no validation set, also where the protocol has one
     * @param seed of the draw
     * @param duplicates of the whole dataset, which stay on one side
     * @param remarks receives messages for the user
     */
    record HoldingBack(double share, long seed, Duplicates duplicates, Consumer<String> remarks) {}

    private static List<Sample> samples(Dataset dataset, List<Integer> indexes, Set<Integer> readable) {
        return pick(
                dataset.samples(), indexes.stream().filter(readable::contains).toList());
    }

    private static List<Sample> pick(List<Sample> samples, List<Integer> indexes) {
        return indexes.stream().map(samples::get).toList();
    }

    private static void requireEveryClass(Dataset dataset, Fold fold, List<Sample> training) {
        List<String> missing = RunPlan.missing(dataset, training);
        if (!missing.isEmpty()) {
            throw new UnfitDataException(QuotedText.text(fold.name()) + " has no readable training image of "
                    + RunPlan.shown(missing) + "; add some, or remove these classes");
        }
    }
}
