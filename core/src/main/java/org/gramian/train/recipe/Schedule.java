package org.gramian.train.recipe;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.gramian.basis.NearestWord;

/**
 * Learning rate schedule of a stage: a factor between 0 and 1 that follows from the epochs so far.
 *
 * <p>Schedules have no state: the same past gives the same factor, so that a resumed run needs only its history.
 */
public sealed interface Schedule {
    /** Names and meanings of schedules, for help. */
    List<String> FORMS = List.of(
            "constant: a constant learning rate",
            "steps:6,7: a tenth after the 6th epoch, a hundredth after the 7th",
            "cosine: cosine decay to 0",
            "plateau[:PATIENCE[,DROPS]]: a tenth after PATIENCE epochs without improvement; early stopping after DROPS reductions");

    /** Returns the text form that {@link #parse} reads. */
    String text();

    /**
     * Returns the factor on the learning rate.
     *
     * @param past validation score of each completed epoch of the stage
     * @param position completed epochs, with the fraction of the current one
     * @param epochs of the whole stage
     */
    double factor(List<ValidationScore> past, double position, int epochs);

    /** Whether early stopping ends the stage. */
    default boolean ended(List<ValidationScore> past) {
        return false;
    }

    /** Reads a schedule. */
    static Schedule parse(String text) {
        String[] parts = text.strip().toLowerCase(Locale.ROOT).split(":", 2);
        String argument = parts.length > 1 ? parts[1] : "";
        List<String> names = List.of("constant", "steps", "cosine", "plateau");
        return switch (parts[0]) {
            case "constant" -> plain(new Constant(), parts);
            case "cosine" -> plain(new Cosine(), parts);
            case "steps" -> new Steps(numbers(text, argument));
            case "plateau" -> plateau(text, argument);
            default ->
                throw new IllegalArgumentException("unknown schedule '" + text + "'"
                        + NearestWord.suggestion(parts[0], names) + "; the schedules are "
                        + String.join(", ", names));
        };
    }

    private static Schedule plain(Schedule schedule, String[] parts) {
        if (parts.length > 1) {
            throw new IllegalArgumentException(
                    "the schedule " + parts[0] + " takes no argument, found '" + parts[1] + "'");
        }
        return schedule;
    }

    private static Schedule plateau(String text, String argument) {
        List<Integer> numbers = argument.isEmpty() ? List.of() : numbers(text, argument);
        if (numbers.size() > 2) {
            throw new IllegalArgumentException("expected plateau[:PATIENCE[,DROPS]], found '" + text + "'");
        }
        return new Plateau(
                numbers.isEmpty() ? Plateau.PATIENCE : numbers.getFirst(),
                numbers.size() < 2 ? Plateau.DROPS : numbers.getLast());
    }

    private static List<Integer> numbers(String text, String argument) {
        if (!argument.matches("\\d{1,6}(,\\d{1,6})*")) {
            throw new IllegalArgumentException(
                    "expected whole numbers separated by commas after ':', found '" + text + "'");
        }
        return List.of(argument.split(",")).stream().map(Integer::valueOf).toList();
    }

    /** A constant learning rate. */
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

    /**
     * Divides the learning rate by 10 after each of the given epochs.
     *
     * @param after numbers of epochs, ascending, from 1
     */
    record Steps(List<Integer> after) implements Schedule {
        public Steps {
            after = List.copyOf(after);
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

    /**
     * Divides the learning rate by 10 after {@code patience} epochs without improvement; stops early after {@code drops} divisions.
     *
     * @param patience epochs without improvement
     * @param drops divisions before early stopping
     */
    record Plateau(int patience, int drops) implements Schedule {
        /** Default patience. */
        public static final int PATIENCE = 2;

        /** Default number of divisions. */
        public static final int DROPS = 2;

        public Plateau {
            if (patience < 1) {
                throw new IllegalArgumentException(
                        "plateau: expected a patience of at least 1 epoch, found " + patience);
            }
            if (drops < 0) {
                throw new IllegalArgumentException("plateau: expected at least 0 drops, found " + drops);
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
