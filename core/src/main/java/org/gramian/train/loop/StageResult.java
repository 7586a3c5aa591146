package org.gramian.train.loop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.basis.JsonText;
import org.gramian.train.recipe.Improvement;
import org.gramian.train.recipe.ValidationScore;

/**
 * Result of a stage; those of a fold are in {@value #FILE} of its folder.
 *
 * @param stage 1 or 2
 * @param planned epochs of the recipe
 * @param epochs completed: fewer than planned after early stopping
 * @param kept epoch of the best parameters, from 1; 0 for the initial ones
 * @param validated whether the loss of epochs is that of the validation set, not of the training set
 * @param improving fall of that loss in the last epochs, if it still fell at the end of the stage
 * @param refit classifier that was solved again at the end of stage 1; empty without one
 */
public record StageResult(
        int stage,
        int planned,
        int epochs,
        int kept,
        boolean validated,
        Optional<Improvement> improving,
        Optional<Refit> refit) {
    /**
     * A classifier that was solved again at the end of stage 1.
     *
     * @param classifier with its values, as {@code svm, C 10}
     * @param kept whether it replaces the trained classifier
     * @param trained validation score of the trained classifier; empty without a validation set
     * @param solved validation score of the solved classifier
     */
    public record Refit(
            String classifier, boolean kept, Optional<ValidationScore> trained, Optional<ValidationScore> solved) {}

    /** The file of a fold. */
    public static final String FILE = "training.json";

    private record Content(List<StageResult> stages) {}

    /**
     * Reads the results of a fold's folder, in the order of stages; empty if nothing was trained by epochs.
     *
     * @throws IOException if the file is damaged
     */
    public static List<StageResult> read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.exists(file)) {
            return List.of();
        }
        return JsonText.read(file, Content.class, "the stage results of a run", "remove it: nothing else is lost")
                .stages();
    }

    /** Returns this result with a refitted classifier. */
    StageResult with(Refit other) {
        return new StageResult(stage, planned, epochs, kept, validated, improving, Optional.of(other));
    }

    /** Adds this result to a fold's folder, in place of an earlier one of this stage and of later stages. */
    public void write(Path folder) throws IOException {
        Stream<StageResult> before = read(folder).stream().filter(former -> former.stage < stage);
        JsonText.write(
                folder.resolve(FILE),
                new Content(Stream.concat(before, Stream.of(this)).toList()));
    }

    /**
     * Returns advice if the stage was still improving at its last epoch, as {@code the head was still improving: the
     * validation loss fell by 3.2 % in the last 2 of 15 epochs; try --epochs 30}; empty if it was not.
     */
    public Optional<String> advice() {
        return improving.map(improvement -> String.format(
                Locale.ROOT,
                "%s was still improving: the %s loss fell by %.1f %% in the last %d of %d epochs; try %s %d",
                stage == 1 ? "the head" : "fine-tuning",
                validated ? "validation" : "training",
                100 * improvement.share(),
                Math.min(Improvement.EPOCHS, epochs - 1),
                epochs,
                stage == 1 ? "--epochs" : "--fine-tune",
                2 * epochs));
    }
}
