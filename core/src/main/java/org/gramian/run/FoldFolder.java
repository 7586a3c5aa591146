package org.gramian.run;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.evaluate.compare.PredictionTable;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.train.loop.HeadSearch;

/** The files of one fold: model, evaluation, history, and a checkpoint until it is finished. */
record FoldFolder(Path path) {
    static final String MODEL = ModelFile.NAME;
    private static final String AFTER_FIRST = "stage1.json";
    private static final String FROZEN = "frozen.safetensors";
    private static final String FIRST_VALIDATION = "stage1-validation.json";
    static final String SOLVING = "solving.txt";
    private static final String FIRST = "first-model";
    private static final String ADVICE = "; resume with the original settings, or start a new run in another folder";

    /** Creates the folder if needed, and removes partial files of a killed run. */
    static FoldFolder make(Path path) throws IOException {
        Files.createDirectories(path);
        AtomicFile.sweep(path);
        return new FoldFolder(path);
    }

    Path model() {
        return path.resolve(MODEL);
    }

    Path checkpoint() {
        return path.resolve(ExistingRun.CHECKPOINT);
    }

    Path history() {
        return path.resolve("history.csv");
    }

    /** Returns the file of the model on frozen features, which exists until fine-tuning ends. */
    Path frozen() {
        return path.resolve(FROZEN);
    }

    /** @param solving time of comparing heads and solving the selected one, the limit of learned ones */
    void keepFrozen(
            Evaluation evaluation, Optional<Evaluation> validation, Model model, ModelCard card, Duration solving)
            throws IOException {
        keepFirst(evaluation, validation);
        AtomicFile.putText(path.resolve(SOLVING), text -> text.write(solving + "\n"));
        ModelFile.write(frozen(), model, card);
    }

    /** Returns the time in which the model on frozen features was found; empty without one. */
    Optional<Duration> solving() throws IOException {
        Path file = path.resolve(SOLVING);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(Duration.parse(Files.readString(file).strip()));
        } catch (DateTimeParseException e) {
            throw new IOException(file + ": expected a time such as PT30S; start a new run", e);
        }
    }

    /** Returns the validation set under the model before fine-tuning; empty without either. */
    Optional<Evaluation> firstValidation() throws IOException {
        return read(FIRST_VALIDATION);
    }

    /**
     * Removes what a finished fold does not need. The order lets a run that is killed in between end with the same files: without the
     * frozen model, but with a checkpoint, that model is solved again; without a checkpoint the fold is done.
     */
    void finish() throws IOException {
        Files.deleteIfExists(frozen());
        Files.deleteIfExists(checkpoint());
        Files.deleteIfExists(path.resolve(SOLVING));
        Files.deleteIfExists(path.resolve(FIRST_VALIDATION)); // last: a resumed comparison reads it
    }

    /** Makes the model on frozen features the result. */
    void adoptFrozen() throws IOException {
        keepResults(afterFirst().orElseThrow());
        AtomicFile.put(model(), partial -> Files.copy(frozen(), partial, StandardCopyOption.REPLACE_EXISTING));
        removeMark();
    }

    /** Whether the fold is finished: the model is written last, then its mark, the frozen model and the checkpoint are removed. */
    boolean isDone() {
        return Files.exists(model()) && !Files.exists(checkpoint()) && !Files.exists(frozen()) && !isFirst();
    }

    /** Whether the model is the one that a run begins with, which the trained one replaces. */
    boolean isFirst() {
        return Files.exists(path.resolve(FIRST)) && Files.exists(model());
    }

    /** Writes the model that a run begins with; a mark tells it from that of a finished fold. */
    void keepFirstModel(Evaluation evaluation, Model model, ModelCard card) throws IOException {
        AtomicFile.putText(
                path.resolve(FIRST),
                text -> text.write("model.safetensors is the first model of the run: average pooling, "
                        + card.origin().get("images") + " images\n"));
        keepResults(evaluation);
        ModelFile.write(model(), model, card);
    }

    /** Makes the model in the folder the result, also one that the run began with. */
    void removeMark() throws IOException {
        Files.deleteIfExists(path.resolve(FIRST));
    }

    /** Verifies all checksums of the model. */
    void requireUndamaged() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            ModelFile.content(model(), arena);
        }
    }

    void requireOrigin(Path model, Map<String, String> expected, List<String> classes) throws IOException {
        ModelCard card = ModelFile.header(model).card();
        if (!card.classes().equals(classes)) {
            throw new IOException(model + ": expected a model of the classes " + QuotedText.quoted(classes)
                    + ", found one of " + QuotedText.quoted(card.classes()) + ADVICE);
        }
        Map<String, String> found = card.origin();
        for (Map.Entry<String, String> entry : expected.entrySet()) {
            String other = found.get(entry.getKey());
            if (!entry.getValue().equals(other)) {
                throw new IOException(model + ": expected a model with " + entry.getKey() + " " + entry.getValue()
                        + ", found one with " + (other == null ? "none" : other)
                        + ADVICE);
            }
        }
    }

    Optional<HeadSearch.Result> candidates() throws IOException {
        Path file = path.resolve(HeadSearch.FILE);
        return Files.exists(file) ? Optional.of(HeadSearch.Result.read(file)) : Optional.empty();
    }

    void keepCandidates(HeadSearch.Result result) throws IOException {
        result.write(path.resolve(HeadSearch.FILE));
    }

    void keepFirst(Evaluation evaluation, Optional<Evaluation> validation) throws IOException {
        EvaluationFile.write(path.resolve(AFTER_FIRST), evaluation);
        if (validation.isPresent()) {
            EvaluationFile.write(path.resolve(FIRST_VALIDATION), validation.get());
        }
    }

    void keep(Evaluation evaluation, Model model, ModelCard card) throws IOException {
        keepResults(evaluation);
        ModelFile.write(model(), model, card);
        removeMark();
    }

    private void keepResults(Evaluation evaluation) throws IOException {
        EvaluationFile.write(path.resolve(EvaluationFile.FILE), evaluation);
        PredictionTable.of(evaluation).write(path.resolve("predictions.csv"));
        evaluation.confusion().write(path.resolve("confusion.csv"));
    }

    Evaluation evaluation() throws IOException {
        return EvaluationFile.read(path.resolve(EvaluationFile.FILE));
    }

    Optional<Evaluation> afterFirst() throws IOException {
        return read(AFTER_FIRST);
    }

    private Optional<Evaluation> read(String name) throws IOException {
        Path file = path.resolve(name);
        return Files.exists(file) ? Optional.of(EvaluationFile.read(file)) : Optional.empty();
    }
}
