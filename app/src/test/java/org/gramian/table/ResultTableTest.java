package org.gramian.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.NamedCsvRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.basis.CsvText;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.compare.Comparison;
import org.gramian.evaluate.compare.FoldSummary;
import org.gramian.evaluate.compare.FoldSummary.Spread;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.table.ResultTable.Column;
import org.gramian.table.ResultTable.Numbers;
import org.gramian.table.ResultTable.Result;
import org.gramian.table.ResultTable.Size;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ResultTableTest {
    private static final String NASTY = "a & b_%|<b>$\\^~{#}*`[x]\u001b";

    private static final Column COLUMN = new Column("fmd", NASTY, "ab".repeat(32), 3);

    private static final Map<String, String> FILES = files();

    private static Result finished(String name, String title, double mean, boolean best, Optional<Comparison> against) {
        return new Result(
                COLUMN,
                name,
                title,
                "finished",
                Optional.of(new Numbers(spread(mean), Optional.empty(), against, best)),
                Optional.of(new Size(131_328, 1_313_290)),
                Optional.of("69.6 / 67.9"));
    }

    private static Spread spread(double mean) {
        return new Spread(3, mean, OptionalDouble.of(0.029));
    }

    private static Result missing(String name, String status) {
        return new Result(COLUMN, name, name, status, Optional.empty(), Optional.empty(), Optional.empty());
    }

    private static Map<String, String> files() {
        FoldSummary none = new FoldSummary(Map.of(Metric.ACCURACY, spread(0.5)));
        Comparison better = new Comparison(none, none, new PairedTest(600, 120, 70, 210), 0);
        List<Result> results = List.of(
                finished("average", "average", 0.701, false, Optional.empty()),
                finished("nasty", NASTY, 0.753, true, Optional.of(better)),
                missing("later", "not trained yet: 1 of 3 folds"),
                missing("failed", "not trained: why & how_"));
        return new ResultTable("average", results, List.of("known of some rows")).files("gramian compare 'a\nb' ```");
    }

    @Test
    void markdownEscapesNames() {
        String text = FILES.get("table.md");
        List<String> rows = text.lines().filter(line -> line.startsWith("|")).toList();
        assertThat(rows)
                .hasSize(6)
                .allSatisfy(row -> assertThat(row.replaceAll("\\\\.", "")
                                .chars()
                                .filter(sign -> sign == '|')
                                .count())
                        .as(row)
                        .isEqualTo(8));
        assertThat(rows.get(0)).contains("paper (VGG-16)");
        assertThat(rows.get(3))
                .contains("a \\& b\\_%\\|\\<b\\>$\\\\^\\~{\\#}\\*\\`\\[x\\]\uFFFD")
                .contains("**75.3 ± 2.9**", "+5.0 (", "\\< 0.001", "131,328", "1.31 M");
        assertThat(rows.get(4)).contains("| later | – |");
        assertThat(text)
                .containsPattern("later .*\\b1 of 3\\b")
                .contains("why \\& how\\_", "````", "known of some rows")
                .doesNotContain("\u001b");
    }

    @Test
    void csvRoundTrips() {
        List<NamedCsvRecord> records = new ArrayList<>();
        CsvReader.builder().ofNamedCsvRecord(FILES.get("table.csv")).forEach(records::add);
        assertThat(records).hasSize(4);
        assertThat(records.get(1).getField("title")).isEqualTo(CsvText.safe(NASTY));
        assertThat(records.get(1).getField("dataset")).isEqualTo(CsvText.safe(NASTY));
        assertThat(records.get(1).getField("accuracy_mean")).isEqualTo("0.753");
        assertThat(records.get(1).getField("difference")).isEqualTo("0.05");
        assertThat(records.get(1).getField("paper_vgg16")).isEqualTo("69.6 / 67.9");
        assertThat(records.get(2).getField("accuracy_mean")).isEmpty();
        assertThat(records.get(2).getField("status")).has(facts("1", "3"));
        assertThat(records.get(3).getField("status")).endsWith("why & how_");
        assertThat(records)
                .allSatisfy(one -> assertThat(one.getField("command")).contains("gramian compare"));
    }

    @Test
    void jsonHasFullPrecision() {
        JsonNode document = JsonMapper.shared().readTree(FILES.get("table.json"));
        assertThat(document.at("/format").asString()).isEqualTo("gramian-table");
        assertThat(document.at("/results/1/title").asString()).isEqualTo(NASTY);
        assertThat(document.at("/results/1/accuracy_mean").asDouble()).isEqualTo(0.753);
        assertThat(document.at("/results/1/only_this_right").asInt()).isEqualTo(120);
        assertThat(document.at("/results/1/parameters").asLong()).isEqualTo(1_313_290);
        assertThat(document.at("/results/2/accuracy_mean").isMissingNode()).isTrue();
        assertThat(document.at("/command").asString()).startsWith("gramian compare");
    }
}
