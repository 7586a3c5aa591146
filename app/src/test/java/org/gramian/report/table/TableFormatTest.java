package org.gramian.report.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.basis.CsvText;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.PairedTest;
import org.gramian.run.table.ResultTable;
import org.gramian.run.table.RowOutcome;
import org.gramian.run.table.TableCell;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A table in every form: the same numbers, and names that stay names. */
class TableFormatTest {
    private static final String NASTY = "a & b_%|<b>$\\^~{#}*`[x]\u001b";
    private static final TableCell.Size SIZE = new TableCell.Size(131_328, 1_313_290);

    private static Spread spread(double mean) {
        return new Spread(3, mean, OptionalDouble.of(0.029));
    }

    private static TableCell finished(double mean, boolean best, Optional<Comparison> against) {
        return new TableCell(
                Optional.of(new TableCell.Numbers(spread(mean), Optional.empty(), against, best)),
                new RowOutcome.Finished(List.of()),
                Optional.of(SIZE),
                OptionalDouble.of(1.5),
                Optional.of("69.6 / 67.9"),
                Map.of("network.pooling", "x|y"));
    }

    private static TableCell missing(RowOutcome outcome) {
        return new TableCell(
                Optional.empty(), outcome, Optional.empty(), OptionalDouble.empty(), Optional.empty(), Map.of());
    }

    private static Comparison better() {
        FoldSummary none = new FoldSummary(Map.of(Metric.ACCURACY, spread(0.5)));
        return new Comparison(none, none, new PairedTest(600, 120, 70, 210), 0);
    }

    private static TableReport report() {
        ResultTable.Column column = new ResultTable.Column("fmd", NASTY, "ab".repeat(32), 3, Map.of());
        List<ResultTable.Line> lines = List.of(
                new ResultTable.Line("average", "average", List.of(finished(0.701, false, Optional.empty()))),
                new ResultTable.Line("nasty", NASTY, List.of(finished(0.753, true, Optional.of(better())))),
                new ResultTable.Line("later", "later", List.of(missing(new RowOutcome.Unfinished(1, 3)))),
                new ResultTable.Line(
                        "failed",
                        "failed",
                        List.of(missing(new RowOutcome.Failed(new IllegalArgumentException("why & how_"))))));
        ResultTable table =
                new ResultTable("average", List.of(column), lines, Map.of("seed", "0"), List.of("known of some rows"));
        return new TableReport(table, "gramian compare 'a\nb' ```", "cpu", cause -> "not so: " + cause.getMessage());
    }

    @Test
    void markdownEscapesNames() {
        String text = TableFormat.MARKDOWN.render(report());
        List<String> rows = text.lines().filter(line -> line.startsWith("|")).toList();
        assertThat(rows)
                .hasSize(6)
                .allSatisfy(row -> assertThat(row.replaceAll("\\\\.", "")
                                .chars()
                                .filter(sign -> sign == '|')
                                .count())
                        .as(row)
                        .isEqualTo(9));
        assertThat(rows.get(3))
                .contains("a \\& b\\_%\\|\\<b\\>$\\\\^\\~{\\#}\\*\\`\\[x\\]\uFFFD")
                .contains("**75.3 ± 2.9**", "+5.0 (", "< 0.001".replace("<", "\\<"), "131,328", "1.31 M", "1.50");
        assertThat(rows.get(4)).contains("| later | – |");
        assertThat(text)
                .containsPattern("later .*\\b1 of 3\\b")
                .contains("not so: why \\& how\\_", "````", "seed=0")
                .doesNotContain("\u001b");
    }

    @Test
    void latexEscapesEverySignWithoutPackages() {
        String text = TableFormat.LATEX.render(report());
        assertThat(text)
                .contains("\\begin{tabular}{lrrrrrrr}\n\\hline\n")
                .contains(
                        "a \\& b\\_\\%$|$$<$b$>$\\$\\textbackslash{}\\textasciicircum{}\\textasciitilde{}\\{\\#\\}*`[x]")
                .contains("\\textbf{75.3 $\\pm$ 2.9} & +5.0 (")
                .contains("% gramian compare 'a\uFFFDb'")
                .containsPattern("(?m)^% .*\\bseed=0")
                .containsPattern("(?m)^% failed ")
                .doesNotContain("toprule");
        assertThat(LatexTable.escaped("[x]"))
                .as("not an argument of the line before")
                .isEqualTo("{}[x]");
        assertThat(LatexTable.escaped("512→128, -1.5 (-3.0, 0.1), 1e-4, tri-linear"))
                .isEqualTo("512$\\to$128, $-$1.5 ($-$3.0, 0.1), 1e-4, tri-linear");
        assertThat(text.lines().filter(line -> line.contains("\\\\")))
                .hasSize(5)
                .allSatisfy(line -> assertThat(line.replaceAll("\\\\&", "")
                                .chars()
                                .filter(sign -> sign == '&')
                                .count())
                        .isEqualTo(7));
    }

    @Test
    void csvRoundTrips() {
        List<NamedCsvRecord> records = new ArrayList<>();
        CsvReader.builder().ofNamedCsvRecord(TableFormat.CSV.render(report())).forEach(records::add);
        assertThat(records).hasSize(4);
        assertThat(CsvText.restored(records.get(1).getField("title"))).isEqualTo(NASTY);
        assertThat(CsvText.restored(records.get(1).getField("data_set"))).isEqualTo(NASTY);
        assertThat(records.get(1).getField("accuracy_mean")).isEqualTo("0.753");
        assertThat(records.get(1).getField("difference")).isEqualTo("0.05");
        assertThat(records.get(1).getField("paper_vgg16")).isEqualTo("69.6 / 67.9");
        assertThat(records.get(2).getField("accuracy_mean")).isEmpty();
        assertThat(records.get(2).getField("status")).has(facts("1", "3"));
        assertThat(records.get(3).getField("status")).endsWith("not so: why & how_");
        assertThat(records).allSatisfy(one -> {
            assertThat(one.getField("command")).contains("gramian compare");
            assertThat(one.getField("configuration"))
                    .endsWith("seed=0; average: network.pooling=x|y; nasty: network.pooling=x|y");
        });
    }

    @Test
    void htmlEscapesNames() {
        String text = TableFormat.HTML.render(report());
        assertThat(text)
                .contains("a &amp; b_%|&lt;b&gt;", "<strong class=\"best\">75.3 ± 2.9</strong>", "why &amp; how_")
                .contains("prefers-color-scheme: dark", "<th scope=\"row\">average</th>", "seed=0")
                .doesNotContain("<b>", "<script", "http");
        int ranking = text.indexOf("abababababab");
        assertThat(text.indexOf("b_%|", ranking)).isPositive();
        assertThat(text.lastIndexOf("<th scope=\"row\">a &amp;"))
                .as("the best row comes first")
                .isLessThan(text.lastIndexOf("<th scope=\"row\">average"));
    }

    @Test
    void jsonHasFullPrecision() {
        JsonNode document = JsonMapper.shared().readTree(TableFormat.JSON.render(report()));
        assertThat(document.at("/format").asString()).isEqualTo("gramian-table");
        assertThat(document.at("/rows/1/title").asString()).isEqualTo(NASTY);
        assertThat(document.at("/rows/1/results/0/accuracy/mean").asDouble()).isEqualTo(0.753);
        assertThat(document.at("/rows/1/results/0/againstBaseline/onlyThis").asInt())
                .isEqualTo(120);
        assertThat(document.at("/rows/1/results/0/parameters").asLong()).isEqualTo(1_313_290);
        assertThat(document.at("/rows/2/results/0/accuracy").isMissingNode()).isTrue();
        assertThat(document.at("/common/seed").asString()).isEqualTo("0");
        assertThat(document.at("/command").asString()).startsWith("gramian compare");
    }

    @Test
    void publishedFiguresAreLabelled() {
        assertThat(report().notes()).anySatisfy(note -> assertThat(note).startsWith("paper (VGG-16): "));
        assertThat(report().sections().getFirst().head()).endsWith("paper (VGG-16)");
    }

    @Test
    void notesExplainTheTable() {
        assertThat(report().notes()).contains("known of some rows").hasSizeGreaterThan(1);
    }

    @Test
    void oneMethodIsSingular() {
        TableReport all = report();
        ResultTable table = all.table();
        ResultTable one =
                new ResultTable("average", table.columns(), table.lines().subList(0, 1), table.common(), List.of());
        assertThat(new TablePage(all).title()).startsWith("4 methods ");
        assertThat(new TablePage(new TableReport(one, "", "", Throwable::toString)).title())
                .startsWith("1 method ");
    }

    @Test
    void formatsAreParsed() {
        assertThat(TableFormat.parse("latex")).isEqualTo(TableFormat.LATEX);
        assertThatThrownBy(() -> TableFormat.parse("latx")).hasMessageContaining("'latex'");
    }
}
