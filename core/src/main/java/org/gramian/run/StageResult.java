package org.gramian.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.train.recipe.Improvement;
import org.gramian.train.recipe.ValidationScore;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * How a stage of a fold ended; those of a fold are kept as {@value #FILE} in its folder.
 *
 * @param stage 1 or 2
 * @param planned epochs of the recipe
 * @param epochs that it took: more than planned where it was extended, fewer where its schedule ended it
 * @param kept the epoch whose parameters are kept, from 1 on; 0 for those it began with
 * @param validated whether epochs were judged by the loss on the validation set, not on the training set
 * @param improving fall of that loss in the last epochs, where it still fell at the end of the stage
 * @param refit classifier that was solved for again at the end of stage 1; empty where none was
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
     * A classifier that was solved for again at the end of stage 1.
     *
     * @param classifier with the numbers that were found, as {@code svm, C 10}
     * @param kept whether it takes the place of the trained classifier
     * @param trained judgement of the trained classifier by the validation set; empty without one
     * @param solved that of the solved one
     */
    public record Refit(
            String classifier, boolean kept, Optional<ValidationScore> trained, Optional<ValidationScore> solved) {}

    /** The file of a fold. */
    public static final String FILE = "training.json";

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private record Content(List<StageResult> stages) {}

    /**
     * Reads the results of a fold's folder, in the order of stages; none where nothing was trained by epochs.
     *
     * @throws IOException if the file is damaged
     */
    public static List<StageResult> read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        if (!Files.exists(file)) {
            return List.of();
        }
        try {
            return MAPPER.readValue(file.toFile(), Content.class).stages();
        } catch (JacksonException damaged) {
            throw new IOException(
                    file + ": expected the stage results of a run, found a damaged file; remove it: nothing else is"
                            + " lost",
                    damaged);
        }
    }

    /** Returns the same result with a classifier that was solved for again. */
    StageResult with(Refit other) {
        return new StageResult(stage, planned, epochs, kept, validated, improving, Optional.of(other));
    }

    /** Adds this result to a fold's folder, in place of an earlier one of this stage and of later stages. */
    void write(Path folder) throws IOException {
        Stream<StageResult> before = read(folder).stream().filter(former -> former.stage < stage);
        Content content = new Content(Stream.concat(before, Stream.of(this)).toList());
        AtomicFile.put(folder.resolve(FILE), partial -> Files.write(partial, MAPPER.writeValueAsBytes(content)));
    }

    /**
     * Says that the stage was still improving at its last epoch and what to try, as {@code the head was still improving: the
     * validation loss fell by 3.2 % in the last 2 of 15 epochs; try --epochs 30}; empty where it did not.
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
