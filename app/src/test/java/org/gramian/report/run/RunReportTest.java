package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.gramian.basis.Sha256;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.evaluate.compare.FoldSummary;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.report.Figures;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class RunReportTest {
    @TempDir
    private Path root;

    private String report(Path... runs) throws IOException {
        Path out = root.resolve("out.html");
        RunReport.write(List.of(runs), out, "1.2.3");
        String html = Files.readString(out, StandardCharsets.UTF_8);
        new Markup(html).requireWellFormed();
        new Markup(html).requireSelfContained();
        return html;
    }

    private Path run(String name) {
        return root.resolve(name);
    }

    @Test
    void completeRunShowsEveryPart() throws IOException {
        MadeUpRun.in(run("a")).write(1);
        String html = report(run("a"));
        assertThat(html)
                .has(facts("60", "95 %", "200", "40", "ab".repeat(32), "thirds:3"))
                .contains("<td class=\"count\">4</td><td class=\"count\">12</td>")
                .contains("<td class=\"count\">3</td><td class=\"count\">11</td>");
        assertThat(section(html, "mistakes")).contains("<figure");
        assertThat(section(html, "confusion")).contains("<table");
        assertThat(section(html, "classes")).contains("<table");
        assertThat(section(html, "calibration")).has(facts("temperature", "calibration error"));
        assertThat(section(html, "learning")).contains("<h3>loss</h3>", "<h3>accuracy", "<h3>‖WᵀW − I‖</h3>");
        assertThat(section(html, "map")).contains("t-SNE").has(facts("60", "'holdout"));
        assertThat(section(html, "spd"))
                .has(facts("1", "spd:3", "25.0 %", "8.39e+06", "8.39e+06"))
                .containsPattern("2\\.000 \\(1\\.000\\D+3\\.000\\)")
                .containsPattern("20\\.00\\b\\D+8\\.39e\\+06");
        assertThat(section(html, "model")).contains("conv:4/rbf/spd:3/relu/triu/root/l2", "./gramian predict ");
        assertThat(section(html, "configuration"))
                .contains("<code>network.weights</code>", "a # b.safetensors", "--weights", "the usual one");
        assertThat(section(html, "audit")).has(facts("300", "4", "1")).contains("&lt;b&gt;");
        assertThat(new Markup(html).values("data-image")).hasSize(2 * 60).doesNotContain("-1");
        String script = html.substring(html.indexOf("<script>") + 8, html.indexOf("</script>"));
        String hash = Base64.getEncoder().encodeToString(Sha256.of(script.getBytes(StandardCharsets.UTF_8)));
        assertThat(html).contains("default-src &#39;none&#39;", "script-src &#39;sha256-" + hash + "&#39;");
        assertThat(report(run("a"))).isEqualTo(html);
    }

    private static String section(String html, String part) {
        int from = html.indexOf("id=\"r0-" + part + "\"");
        assertThat(from).as(part).isNotNegative();
        return html.substring(from, html.indexOf("</section>", from));
    }

    @Test
    void figuresAreThoseOfEvaluationFile() throws IOException {
        MadeUpRun.in(run("a")).write(2);
        String html = report(run("a"));
        JsonNode results = JsonMapper.builder()
                .build()
                .readTree(Files.readAllBytes(run("a").resolve("evaluation.json")))
                .path("results");
        for (Metric metric : Metric.values()) {
            double value = results.path(metric.key()).asDouble();
            assertThat(row(html, metric.text())).as(metric.key()).startsWith(metric.show(value));
        }
        JsonNode interval = results.path("accuracyInterval95");
        assertThat(html)
                .containsPattern(String.format(
                        Locale.ROOT,
                        "95 %%\\D+%.1f\\D+%.1f\\D",
                        100 * interval.path("low").asDouble(),
                        100 * interval.path("high").asDouble()));
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                int count =
                        results.path("confusion").path("counts").get(i).get(j).asInt();
                assertThat(cell(html, i, j)).as(i + ", " + j).isEqualTo(count);
            }
            JsonNode score = results.path("perClass").get(i);
            assertThat(html)
                    .contains(String.format(
                            Locale.ROOT,
                            "<td class=\"count\">%.1f</td><td class=\"count\">%.1f</td><td"
                                    + " class=\"count\">%.1f</td></tr>",
                            100 * score.path("precision").asDouble(),
                            100 * score.path("recall").asDouble(),
                            100 * score.path("f1").asDouble()));
        }
        Evaluation evaluation = EvaluationFile.read(run("a").resolve("evaluation.json"));
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                int from = html.indexOf("<div popover id=\"r0-cell-" + i + "-" + j + "\"");
                int truth = i;
                int answer = j;
                List<String> names = evaluation.predictions().stream()
                        .filter(one -> one.truth() == truth && one.predicted() == answer)
                        .map(one -> one.name())
                        .toList();
                assertThat(from >= 0).isEqualTo(!names.isEmpty());
                for (String name : names) {
                    assertThat(html.substring(from, html.indexOf("</ul>", from)))
                            .contains("role=\"img\" aria-label=\"" + name + "\"");
                }
            }
        }
    }

    /** Returns the value of a metric. */
    private static String row(String html, String metric) {
        Matcher row = Pattern.compile("<th scope=\"row\">" + metric + "(?:, %)?</th>\\s*<td class=\"count\">([^<]*)<")
                .matcher(html);
        assertThat(row.find()).isTrue();
        return row.group(1);
    }

    private static int cell(String html, int truth, int answer) {
        Matcher cell = Pattern.compile(
                        "popovertarget=\"r0-cell-%d-%d\" aria-label=\"[^\"]*\">(\\d+)<".formatted(truth, answer))
                .matcher(html);
        return cell.find() ? Integer.parseInt(cell.group(1)) : 0;
    }

    @Test
    void evaluationAloneListsMissingParts() throws IOException {
        MadeUpRun made = MadeUpRun.in(run("bare"));
        made.evaluation(1, "holdout", run("bare"));
        String html = report(run("bare"));
        assertThat(section(html, "learning")).contains("history.csv").doesNotContain("<svg");
        assertThat(section(html, "map")).contains("gallery.safetensors").doesNotContain("<svg");
        assertThat(section(html, "model")).contains("model.safetensors");
        assertThat(section(html, "configuration")).contains("config.yaml");
        assertThat(section(html, "audit")).contains("audit.json");
        assertThat(section(html, "spd")).contains("spd.json");
        assertThat(section(report(run("bare").resolve("evaluation.json")), "learning"))
                .doesNotContain("history.csv", "<svg");
        assertThatThrownBy(() -> report(root.resolve("nothing"))).has(facts(root.resolve("nothing")));
    }

    @Test
    void damagedPartsAreReported() throws IOException {
        MadeUpRun.in(run("a")).write(1);
        for (String file : List.of("history.csv", "audit.json", "gallery.safetensors", "model.safetensors")) {
            Files.writeString(run("a").resolve(file), "non\nsense\n");
        }
        String html = report(run("a"));
        assertThat(section(html, "learning")).contains("history.csv").doesNotContain("<svg");
        assertThat(section(html, "audit")).contains("JSON");
        assertThat(section(html, "model")).contains("model.safetensors");
        assertThat(section(html, "map")).doesNotContain("<svg");
    }

    @Test
    void namesAreEscaped() throws IOException {
        new MadeUpRun(run("<b>\"x'&"), MadeUpRun.HOSTILE, 40).write(1);
        String html = report(run("<b>\"x'&"));
        assertThat(html)
                .doesNotContain("<img", "alert(1)</script>", "<b>\"x")
                .contains("&lt;script>alert(1)&lt;/script>", "${7*7}");
    }

    @Test
    void foldsHaveMeanAndOwnMetrics() throws IOException {
        MadeUpRun made = MadeUpRun.in(run("folds"));
        List<Evaluation> folds = new ArrayList<>();
        for (int fold = 1; fold <= 3; fold++) {
            Path place = run("folds").resolve("fold-" + fold);
            folds.add(made.evaluation(fold, "third " + fold, place));
            MadeUpRun.history(place);
        }
        Files.createDirectories(run("folds").resolve("fold-4"));
        assertThat(report(run("folds")))
                .contains(FoldSummary.of(folds).text(Metric.ACCURACY) + " %")
                .contains("<summary>third 1</summary>", "<summary>third 3</summary>")
                .has(facts("fold-4"))
                .contains(folds.get(1).accuracy().text());
    }

    @Test
    void showsSignedGainOfStageTwo() throws IOException {
        MadeUpRun made = MadeUpRun.in(run("a"));
        Evaluation before = made.evaluation(3, "holdout", run("a"));
        Files.move(run("a").resolve("evaluation.json"), run("a").resolve("stage1.json"));
        Evaluation after = made.evaluation(4, "holdout", run("a"));
        PairedTest test = PairedTest.of(after, before);
        assertThat(test.difference()).isNegative();
        assertThat(report(run("a")))
                .contains(
                        Figures.percent(before.accuracy().value()) + " %",
                        test.text().replace("<", "&lt;"));
    }

    @Test
    void comparesRunsWithFirst() throws IOException {
        MadeUpRun.in(run("a")).write(1);
        MadeUpRun.in(run("b")).write(2);
        new MadeUpRun(run("c"), List.of("x", "y"), 20).evaluation(1, "other", run("c"));
        String two = report(run("a"), run("b"));
        assertThat(two)
                .containsPattern("<h1>[^<]*\\ba, b\\b")
                .contains("id=\"comparison\"", "McNemar", "id=\"r0-run\"", "id=\"r1-run\"");
        assertThat(report(run("a"), run("c")))
                .has(facts("'other'", "'holdout'"))
                .doesNotContain("McNemar");
        assertThatThrownBy(() -> RunReport.write(List.of(), root.resolve("x.html"), "1"))
                .has(facts("1", "12", "0"));
    }

    @Test
    void manyClassesAndImagesStayWithinBounds() throws IOException {
        List<String> names = IntStream.range(0, 100).mapToObj(k -> "class " + k).toList();
        new MadeUpRun(run("many"), names, 1_100).write(1);
        String html = report(run("many"));
        assertThat(html)
                .contains("matrix many")
                .has(facts("1,000", "1,100", "1000"))
                .containsPattern("<summary>" + (RunView.MISTAKES - RunView.AT_ONCE) + "\\b");
        assertThat(html.split("<image ", -1)).hasSize(1 + ImageSheet.MOST);
        assertThat(html.length()).isLessThan(6_000_000);
    }
}
