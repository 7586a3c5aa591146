package org.gramian.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.gramian.basis.QuotedText;
import org.gramian.export.OpenModel;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Answer;
import org.gramian.model.Engine;
import org.gramian.model.Outcome;
import org.gramian.model.RowSink;
import org.gramian.model.Scoring;

/** Goes through images by a model and writes a line for each, at once; counts those of which there is no answer. */
final class PredictionRun {
    private final OpenModel model;
    private final Function<Answer, PredictionRow> saying;
    private final Output output;
    private int failures;

    /**
     * Where results go.
     *
     * @param lines in some format
     * @param writer what the lines are written to
     * @param complaints told of every image without an answer
     */
    record Output(PredictionLines lines, PrintWriter writer, Consumer<String> complaints) {}

    PredictionRun(OpenModel model, Function<Answer, PredictionRow> saying, Output output) {
        this.model = model;
        this.saying = saying;
        this.output = output;
        output.lines().begin();
        output.writer().flush();
    }

    /** Images of which there is no answer, so far. */
    int failures() {
        return failures;
    }

    /** Answers for files, in their order. */
    void predict(List<Path> files, LongConsumer progress) {
        if (files.isEmpty()) {
            return;
        }
        List<Sample> samples =
                files.stream().map(path -> new Sample(path.toString(), 0, path)).toList();
        Scoring.ofFiles(model.engine(), model.card(), files.size())
                .run(samples, Engine.Rows.SCORES, sink(samples), progress);
    }

    private RowSink sink(List<Sample> samples) {
        return new RowSink() {
            @Override
            public void rows(int sample, float[][] rows) {
                add(samples.get(sample).name(), Outcome.of(rows, model.card()));
            }

            @Override
            public void unreadable(int sample, Unreadable problem) {
                add(samples.get(sample).name(), Outcome.of(problem));
            }
        };
    }

    private void add(String image, Outcome outcome) {
        switch (outcome) {
            case Outcome.Answered(Answer answer) -> answered(image, answer);
            case Outcome.Failed(String reason) -> failed(image, reason);
        }
    }

    private void answered(String image, Answer answer) {
        output.lines().answered(image, saying.apply(answer));
        OutputCheck.require(output.writer());
    }

    /** Reports an image of which there is no answer. */
    void failed(String image, String reason) {
        failures++;
        output.lines().failed(image, reason);
        output.complaints().accept(QuotedText.visible(image + ": " + reason));
        OutputCheck.require(output.writer());
    }
}
