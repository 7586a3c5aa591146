package org.gramian.cli.command;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.gramian.basis.CsvText;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.Progress;
import org.gramian.image.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;

/** Output of {@code predict} and {@code nearest}: lines for each image as soon as it is computed, in one of three formats. */
final class ResultLines {
    enum Format {
        TABLE,
        JSONL,
        CSV
    }

    record Result(String text, Map<String, Object> json, List<List<String>> rows) {}

    private final Format format;
    private final PrintWriter out;
    private final List<String> columns;
    private final UnaryOperator<String> title;
    private final Consumer<String> complaints;
    private final CsvWriter csv;
    private int failures;

    /** Writes the header. */
    ResultLines(
            Format format,
            PrintWriter out,
            List<String> columns,
            UnaryOperator<String> title,
            Consumer<String> complaints) {
        this.format = format;
        this.out = out;
        this.columns = columns;
        this.title = title;
        this.complaints = complaints;
        this.csv = CsvWriter.builder()
                .lineDelimiter(LineDelimiter.LF)
                .bufferSize(0)
                .build(out);
        if (format == Format.CSV) {
            csv.writeRecord(columns);
        }
        out.flush();
    }

    void run(
            Classifier classifier,
            List<Path> files,
            Set<Engine.Rows> rows,
            Function<ImageResult.Computed, Result> show,
            Progress progress) {
        List<ImageSource> images = files.stream().map(ImageSource::of).toList();
        classifier.run(images, rows, (index, result) -> {
            String image = images.get(index).name();
            switch (result) {
                case ImageResult.Computed computed -> compute(image, () -> show.apply(computed));
                case ImageResult.Failed failed -> failed(image, failed.reason());
            }
            progress.accept(index + 1L);
        });
    }

    /** Writes a result; descriptors that are not finite or do not fit the gallery are failures of the image. */
    private void compute(String image, Supplier<Result> result) {
        Result computed;
        try {
            computed = result.get();
        } catch (IllegalArgumentException invalid) {
            failed(image, String.valueOf(invalid.getMessage()));
            return;
        }
        write(image, computed);
    }

    void write(String image, Result result) {
        print(image, result.text(), result.json(), result.rows().stream().map(row -> {
            List<String> fields = new ArrayList<>(row);
            fields.add("");
            return fields;
        }));
    }

    void failed(String image, String reason) {
        failures++;
        List<String> fields = new ArrayList<>(Collections.nCopies(columns.size() - 2, ""));
        fields.add(reason);
        print(image, "ERROR: " + QuotedText.visible(reason), Map.of("error", reason), Stream.of(fields));
        if (format != Format.TABLE) { // a table is read by people
            complaints.accept(QuotedText.visible(image + ": " + reason));
        }
    }

    private void print(String image, String text, Map<String, Object> members, Stream<List<String>> rows) {
        switch (format) {
            case TABLE -> out.println(title.apply(QuotedText.visible(image)) + text);
            case JSONL -> {
                Map<String, Object> line = JsonText.object("image", image);
                line.putAll(members);
                out.println(JsonText.of(line));
            }
            case CSV ->
                rows.forEach(row -> {
                    List<String> fields = new ArrayList<>(row);
                    fields.addFirst(image);
                    csv.writeRecord(CsvText.safe(fields));
                });
        }
        Failures.requireWritten(out);
    }

    /**
     * Returns the exit code; warns of failures in a table that is not on the screen.
     *
     * @param visible whether the rows go to a terminal
     */
    int exitCode(Console console, boolean visible) {
        if (failures > 0 && format == Format.TABLE && !visible) {
            console.warn((failures == 1 ? "1 image" : failures + " images") + " failed; see ERROR in the results");
        }
        return failures == 0 ? ExitCode.DONE : ExitCode.DATA;
    }
}
