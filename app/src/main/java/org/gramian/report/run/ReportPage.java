package org.gramian.report.run;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.gramian.basis.Sha256;
import org.gramian.report.ReportFile;
import org.gramian.report.run.data.RunData;

/**
 * Self-contained HTML page of one or several runs, laid out by the template {@code run.jte}.
 *
 * @param runs views of the runs
 * @param comparison of several runs
 * @param sheet thumbnails
 * @param version of the program
 */
public record ReportPage(List<RunView> runs, Optional<ComparisonView> comparison, ImageSheet sheet, String version) {
    /** Most runs of a report. */
    public static final int MOST_RUNS = 12;

    private static final String SCRIPT = readScript();

    /** Lays out runs; misclassified images get thumbnails first. */
    static ReportPage of(List<RunData> runs, String version) {
        if (runs.isEmpty() || runs.size() > MOST_RUNS) {
            throw new IllegalArgumentException(
                    "expected 1 to " + MOST_RUNS + " runs in a report, found " + runs.size());
        }
        ImageSheet sheet = new ImageSheet();
        for (RunData run : runs) {
            PredictionSet.of(run).mistakes().stream()
                    .takeWhile(_ -> !sheet.full())
                    .forEach(scored -> sheet.place(scored.prediction().name(), run.thumbnails()));
        }
        List<RunView> views = new ArrayList<>();
        for (int i = 0; i < runs.size(); i++) {
            views.add(RunView.of(runs.get(i), "r" + i + "-", sheet));
        }
        return new ReportPage(
                List.copyOf(views),
                runs.size() > 1 ? Optional.of(ComparisonView.of(runs)) : Optional.empty(),
                sheet,
                version);
    }

    /** Renders the page. */
    String html() {
        return ReportFile.render("run.jte", this);
    }

    /** Returns the title of the page. */
    public String title() {
        String names =
                String.join(", ", runs.stream().map(run -> run.data().name()).toList());
        return comparison.isPresent() ? "Comparison of " + names : "Report of " + names;
    }

    /** Returns the script of the page. */
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
        try (InputStream in = Objects.requireNonNull(ReportPage.class.getResourceAsStream("report.js"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // it is part of the program
        }
    }
}
