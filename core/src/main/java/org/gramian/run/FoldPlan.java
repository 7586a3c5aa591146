package org.gramian.run;

import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.gramian.basis.QuotedText;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.train.loop.TrainingData.Parts;

/** One fold of a run: a split of the readable images with a validation set. */
public record FoldPlan(String place, String name, Parts parts, String validationSource) {
    /**
     * Splits the training images of a fold, unless its protocol has a validation set. A share that the user set replaces that set:
     * its images join the training images, so that every image of the fold is used once.
     */
    static FoldPlan of(Dataset dataset, String place, Fold given, Set<Integer> readable, ValidationSplit split) {
        boolean replaced = split.wanted && !given.validation().isEmpty();
        Fold fold = replaced ? given.withValidationInTraining() : given;
        if (replaced) {
            split.remarks.accept(given.validation().size() + " validation images of " + QuotedText.text(fold.name())
                    + " join the training images, because data.validation is set");
        }
        List<Integer> train = fold.train().stream().filter(readable::contains).toList();
        List<Sample> training = pick(dataset.samples(), train);
        List<Sample> validation = samples(dataset, fold.validation(), readable);
        List<Sample> test = samples(dataset, fold.test(), readable);
        List<String> missing = RunPlan.missing(dataset, training);
        if (!missing.isEmpty()) {
            throw new UnfitDataException(QuotedText.text(fold.name()) + " has no readable training image of "
                    + QuotedText.quoted(missing) + "; add some, or remove these classes");
        }
        if (validation.isEmpty() && !fold.validation().isEmpty()) {
            split.remarks.accept("none of the " + fold.validation().size() + " validation images of "
                    + QuotedText.text(fold.name()) + " can be read; 'gramian audit' names the causes");
        }
        if (!validation.isEmpty() || split.share == 0) {
            Parts parts = new Parts(training, validation, test);
            return new FoldPlan(place, fold.name(), parts, source(dataset, validation));
        }
        Dataset part = new Dataset(dataset.root(), dataset.classes(), training);
        Protocol holdout = Protocol.holdout(split.share);
        Duplicates all = split.duplicates.within(train);
        Duplicates copies = holdout.incompatibility(part, all).isPresent() ? all.with(List.of()) : all;
        if (holdout.incompatibility(part, copies).isPresent()) {
            split.remarks.accept(
                    QuotedText.text(fold.name()) + " has a class with fewer than 2 distinct training images,"
                            + " so there is no validation set: epochs are compared by training loss");
            return new FoldPlan(place, fold.name(), new Parts(training, List.of(), test), "");
        }
        Fold divided = holdout.folds(part, copies, split.seed).getFirst();
        return new FoldPlan(
                place,
                fold.name(),
                new Parts(pick(training, divided.train()), pick(training, divided.test()), test),
                "drawn from the training images");
    }

    private static String source(Dataset dataset, List<Sample> validation) {
        if (validation.isEmpty()) {
            return "";
        }
        String layout = dataset.source().layoutName();
        return layout.equals("splits")
                ? validation.getFirst().name().split("/", 2)[0] + "/"
                : "given by the layout " + layout;
    }

    /**
     * Draw of a validation set from the training images.
     *
     * @param share of the training images; 0: no validation set
     * @param wanted whether the user set the share, which then replaces the validation set of the protocol
     * @param duplicates of the whole dataset, which stay on one side
     */
    record ValidationSplit(double share, boolean wanted, long seed, Duplicates duplicates, Consumer<String> remarks) {}

    private static List<Sample> samples(Dataset dataset, List<Integer> indexes, Set<Integer> readable) {
        return pick(
                dataset.samples(), indexes.stream().filter(readable::contains).toList());
    }

    private static List<Sample> pick(List<Sample> samples, List<Integer> indexes) {
        return indexes.stream().map(samples::get).toList();
    }
}
