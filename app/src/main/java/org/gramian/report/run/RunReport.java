package org.gramian.report.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Sha256;
import org.gramian.report.ReportFile;

/** Report of one run or several as a self-contained HTML file, laid out by the template {@code run.jte}. */
public record RunReport(List<RunView> runs, Optional<ComparisonView> comparison, ImageSheet sheet, String version) {
    public static final String FILE = "report.html";

    private static final int MAX_RUNS = 12;

    private static final String SCRIPT = readScript();

    /** Reads runs and writes their report atomically; several runs are compared first. */
    public static void write(List<Path> runs, Path out, String version) throws IOException {
        AtomicFile.require(out);
        List<RunData> loaded = new ArrayList<>();
        for (Path run : runs) {
            loaded.add(RunReader.read(run));
        }
        new ReportFile(out).write(html(loaded, version));
    }

    /** Renders the page of runs; misclassified images get thumbnails first. */
    public static String html(List<RunData> runs, String version) {
        if (runs.isEmpty() || runs.size() > MAX_RUNS) {
            throw new IllegalArgumentException("expected 1 to " + MAX_RUNS + " runs in a report, found " + runs.size());
        }
        ImageSheet sheet = new ImageSheet();
        for (RunData run : runs) {
            PredictionSet.of(run).mistakes().stream()
                    .takeWhile(_ -> !sheet.full())
                    .forEach(one -> sheet.place(one.name(), run.thumbnails()));
        }
        List<RunView> views = new ArrayList<>();
        for (RunData run : runs) {
            views.add(RunView.of(run, "r" + views.size() + "-", sheet));
        }
        Optional<ComparisonView> comparison =
                runs.size() > 1 ? Optional.of(ComparisonView.of(runs, sheet)) : Optional.empty();
        return ReportFile.render("run.jte", new RunReport(views, comparison, sheet, version));
    }

    public String title() {
        String names =
                String.join(", ", runs.stream().map(run -> run.data().name()).toList());
        return comparison.isPresent() ? "Comparison of " + names : "Report of " + names;
    }

    public String script() {
        return SCRIPT;
    }

    /** Returns the content security policy: only this script and embedded images are allowed. */
    public String policy() {
        String hash = Base64.getEncoder().encodeToString(Sha256.of(SCRIPT.getBytes(StandardCharsets.UTF_8)));
        return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" + hash
                + "'; base-uri 'none'; form-action 'none'";
    }

    private static String readScript() {
        try (InputStream in = Objects.requireNonNull(RunReport.class.getResourceAsStream("report.js"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // it is part of the program
        }
    }
}
