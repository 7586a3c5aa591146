package org.gramian.report.run;

import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;
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
import org.gramian.report.run.material.RunMaterial;

/**
 * One run or several as a page that needs nothing else: what the template {@code run.jte} sets.
 *
 * @param runs what is shown of each
 * @param comparison of several
 * @param sheet the small images
 * @param version of the program that made it
 */
public record ReportPage(List<RunView> runs, Optional<ComparisonView> comparison, ImageSheet sheet, String version) {
    /** More runs than this are a table, not a page to read. */
    public static final int MOST_RUNS = 12;

    private static final String SCRIPT = readScript();

    /** Lays out runs; images of mistakes have the first claim on the room for images. */
    static ReportPage of(List<RunMaterial> runs, String version) {
        if (runs.isEmpty() || runs.size() > MOST_RUNS) {
            throw new IllegalArgumentException(
                    "expected 1 to " + MOST_RUNS + " runs in a report, found " + runs.size());
        }
        ImageSheet sheet = new ImageSheet();
        for (RunMaterial run : runs) {
            Outcomes.of(run).mistakes().stream()
                    .takeWhile(_ -> !sheet.full())
                    .forEach(answer -> sheet.place(answer.prediction().name(), run.thumbnails()));
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

    /** The whole page. */
    String html() {
        StringOutput out = new StringOutput();
        TemplateEngine.createPrecompiled(null, ContentType.Html, null, "org.gramian.report.page")
                .render("run.jte", this, out);
        return out.toString();
    }

    /** What the page is called. */
    public String title() {
        String names = String.join(
                ", ", runs.stream().map(run -> run.material().name()).toList());
        return comparison.isPresent() ? "Comparison of " + names : "Report of " + names;
    }

    /** The text of the only script. */
    public String script() {
        return SCRIPT;
    }

    /** What a browser may do with the page: run this very script, show images that are in it, and nothing else. */
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
