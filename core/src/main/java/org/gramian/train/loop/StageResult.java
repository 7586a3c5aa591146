package org.gramian.train.loop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.basis.JsonText;
import org.gramian.train.recipe.ValidationScore;

/**
 * Result of a stage; those of a fold are in {@value #FILE} of its folder.
 *
 * @param epochs completed: fewer than planned after early stopping
 * @param kept epoch of the best parameters, from 1; 0 for the initial ones
 * @param validated whether the loss of epochs is that of the validation set, not of the training set
 * @param improving fall of that loss in the last epochs, if it still fell at the end of the stage
 */
public record StageResult(
        int stage,
        int planned,
        int epochs,
        int kept,
        boolean validated,
        Optional<Improvement> improving,
        Optional<Refit> refit) {
    /** A classifier that was solved again at the end of stage 1. */
    public record Refit(
            String classifier, boolean kept, Optional<ValidationScore> trained, Optional<ValidationScore> solved) {}

    public static final String FILE = "training.json";

    private record Content(List<StageResult> stages) {}

    /** Reads the results of a fold's folder, in the order of stages; empty if nothing was trained by epochs. */
    public static List<StageResult> read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.exists(file)) {
            return List.of();
        }
        return JsonText.read(file, Content.class, "the stage results of a run", "remove it: nothing else is lost")
                .stages();
    }

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

    /**
     * Fall of the loss in the last epochs of a stage: of the validation set, or of the training set without one.
     *
     * <p>It is relevant if the lowest loss of the last {@value #EPOCHS} epochs is more than 1 % and more than {@value #LEAST_FALL} below
     * the lowest loss before them. One epoch alone would be noise; a loss near 0 falls by percents without any change of predictions.
     */
    public record Improvement(double before, double after) {
        /** The last epochs that are compared with those before. */
        public static final int EPOCHS = 2;

        private static final double LEAST_SHARE = 0.01;
        private static final double LEAST_FALL = 0.002;

        /** Compares the last epochs with those before; of two epochs the second with the first. */
        public static Improvement of(List<ValidationScore> past) {
            if (past.size() < 2) {
                return new Improvement(0, 0);
            }
            int last = past.size() - Math.min(EPOCHS, past.size() - 1);
            return new Improvement(lowest(past.subList(0, last)), lowest(past.subList(last, past.size())));
        }

        private static double lowest(List<ValidationScore> some) {
            return some.stream().mapToDouble(ValidationScore::loss).min().orElse(0);
        }

        /** Returns the fall as a share of the loss before; 0 where it did not fall. */
        public double share() {
            return after < before ? 1 - after / before : 0;
        }

        /** Whether more epochs are likely to pay. */
        public boolean isRelevant() {
            return share() > LEAST_SHARE && before - after > LEAST_FALL;
        }
    }
}
