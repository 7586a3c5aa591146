package org.gramian.train.recipe;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.gramian.basis.NamedArguments;

/**
 * Learning rate schedule of a stage: a factor between 0 and 1 that follows from the epochs so far.
 *
 * <p>Schedules have no state: the same past gives the same factor, so that a resumed run needs only its history.
 */
public sealed interface Schedule {
    List<String> FORMS = List.of("constant", "steps:6,7", "cosine", "plateau[:PATIENCE[,DROPS]]");

    String text();

    /**
     * Returns the factor on the learning rate.
     *
     * @param position completed epochs, with the fraction of the current one
     */
    double factor(List<ValidationScore> past, double position, int epochs);

    /** Whether early stopping ends the stage. */
    default boolean ended(List<ValidationScore> past) {
        return false;
    }

    /**
     * Parses {@code constant}, {@code cosine}, {@code steps:6,7} (a tenth after the 6th epoch, a hundredth after the 7th) or {@code
     * plateau[:PATIENCE[,DROPS]]}.
     */
    static Schedule parse(String text) {
        NamedArguments arguments = NamedArguments.parse("schedule", text.toLowerCase(Locale.ROOT), FORMS);
        Schedule schedule = switch (arguments.name()) {
            case "constant" -> new Constant();
            case "cosine" -> new Cosine();
            case "steps" -> new Steps(arguments.integers("epoch"));
            default ->
                new Plateau(arguments.integer("patience", Plateau.PATIENCE), arguments.integer("drops", Plateau.DROPS));
        };
        arguments.requireAllUsed();
        return schedule;
    }

    record Constant() implements Schedule {
        @Override
        public String text() {
            return "constant";
        }

        @Override
        public double factor(List<ValidationScore> past, double position, int epochs) {
            return 1;
        }
    }

    /** {@code (1 + cos(π·position/epochs))/2} (Loshchilov and Hutter, 2017). */
    record Cosine() implements Schedule {
        @Override
        public String text() {
            return "cosine";
        }

        @Override
        public double factor(List<ValidationScore> past, double position, int epochs) {
            return (1 + StrictMath.cos(Math.PI * Math.min(1, position / epochs))) / 2;
        }
    }

    /** Divides the learning rate by 10 after each of the given epochs. */
    record Steps(List<Integer> after) implements Schedule {
        public Steps {
            after = List.copyOf(after);
            if (after.isEmpty()) {
                throw new IllegalArgumentException("steps: expected epochs, e.g. steps:6,7");
            }
            int last = 0;
            for (int epoch : after) {
                if (epoch <= last) {
                    throw new IllegalArgumentException(
                            "steps: expected ascending epochs of at least 1, found " + after);
                }
                last = epoch;
            }
        }

        @Override
        public String text() {
            return "steps:" + after.stream().map(String::valueOf).collect(Collectors.joining(","));
        }

        @Override
        public double factor(List<ValidationScore> past, double position, int epochs) {
            long drops = after.stream().filter(epoch -> past.size() >= epoch).count();
            return StrictMath.pow(0.1, (double) drops);
        }
    }

    /** Divides the learning rate by 10 after {@code patience} epochs without improvement; stops early after {@code drops} divisions. */
    record Plateau(int patience, int drops) implements Schedule {
        public static final int PATIENCE = 2;

        public static final int DROPS = 2;

        public Plateau {
            if (patience < 1) {
                throw new IllegalArgumentException(
                        "plateau: expected a patience of at least 1 epoch, found " + patience);
            }
        }

        @Override
        public String text() {
            return "plateau:" + patience + "," + drops;
        }

        @Override
        public double factor(List<ValidationScore> past, double position, int epochs) {
            return StrictMath.pow(0.1, Math.min(drops, plateaus(past)));
        }

        @Override
        public boolean ended(List<ValidationScore> past) {
            return plateaus(past) > drops;
        }

        private int plateaus(List<ValidationScore> past) {
            int plateaus = 0;
            int waiting = 0;
            ValidationScore best = ValidationScore.NONE;
            for (ValidationScore score : past) {
                boolean better = score.isBetterThan(best);
                best = better ? score : best;
                waiting = better ? 0 : waiting + 1;
                if (waiting == patience) {
                    plateaus++;
                    waiting = 0;
                }
            }
            return plateaus;
        }
    }
}
