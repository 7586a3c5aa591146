package org.gramian.spark.cli;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.max;
import static org.apache.spark.sql.functions.min;
import static org.apache.spark.sql.functions.percentile_approx;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.basis.QuotedText;
import org.gramian.image.audit.AuditOptions;
import org.gramian.image.audit.AuditReport.ClassCount;
import org.gramian.image.audit.DatasetFindings;
import org.gramian.image.audit.Finding;
import org.gramian.image.audit.Finding.Severity;
import org.gramian.spark.cli.SparkInputOptions.LabelOptions;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.PartitionAudit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gramian spark audit}: problems of a large dataset. */
@Command(
        name = "audit",
        mixinStandardHelpOptions = true,
        header = "Checks a large dataset for problems before training.",
        description = {
            "Reads every image once, writes a row for each (path, label, format, colour, bits, width, height,",
            "orientation, pixels: a hash, odd, error, error_kind), and prints classes and counts, unreadable images,",
            "duplicates (also across classes), small or unbalanced classes, and images of unusual sizes,",
            "shapes and colours. Near-duplicates and splits are checked only by 'gramian audit', on one machine.",
            "Exit code 3 if there are errors.",
            "Example: gramian spark audit 's3a://bucket/photos/*' --out facts.parquet"
        })
final class SparkAuditCommand extends SparkCommand {
    @Mixin
    private final LabelOptions labels = new LabelOptions();

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "images, folders (searched recursively), glob patterns, or tables")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> places;

    @Override
    void check() {}

    @Override
    int run(SparkSession session) throws IOException, InterruptedException {
        output.check(session, places, this::log);
        SparkInputOptions.Images images = input.read(session, places, this::log);
        OutputOptions.Written written = output.write(facts(labels.named(images), session), "", this::log);
        AuditSummary summary = AuditSummary.of(session.read().parquet(output.place()));
        print(written.text() + summary.text());
        boolean spoils = summary.findings().stream().anyMatch(found -> found.severity() == Severity.SPOILS);
        return spoils ? SparkMain.DATA : SparkMain.DONE;
    }

    private static Dataset<Row> facts(Dataset<Row> named, SparkSession session) {
        return named.mapPartitions(
                new PartitionAudit(ImageColumn.of(2, session), 0, 1), Encoders.row(PartitionAudit.SCHEMA));
    }

    /**
     * Summary of an audit for the terminal.
     *
     * @param lines about classes and contents
     * @param findings the worst first
     */
    private record AuditSummary(List<String> lines, List<Finding> findings) {
        /** Most classes listed, the largest. */
        private static final int CLASSES = 20;

        /** Accuracy of medians, see {@code percentile_approx}. */
        private static final int ACCURACY = 10_000;

        /** Summarizes the rows of {@link PartitionAudit}. */
        static AuditSummary of(Dataset<Row> facts) {
            List<ClassCount> classes = classes(facts);
            List<String> lines = new ArrayList<>(lines(classes));
            lines.addAll(contents(facts.where("error IS NULL")));
            List<Finding> findings = new ArrayList<>(DatasetFindings.ofClasses(classes, AuditOptions.DEFAULT));
            findings.addAll(AuditFindings.ofImages(facts));
            findings.addAll(AuditFindings.ofDuplicates(facts));
            findings.sort(Comparator.comparing(Finding::severity).thenComparing(Finding::kind));
            return new AuditSummary(List.copyOf(lines), List.copyOf(findings));
        }

        private static List<ClassCount> classes(Dataset<Row> facts) {
            return facts.groupBy("label").agg(count(lit(1)), count("format")).collectAsList().stream()
                    .map(row -> new ClassCount(
                            String.valueOf(row.getString(0)),
                            Math.toIntExact(row.getLong(1)),
                            Math.toIntExact(row.getLong(2)),
                            List.of()))
                    .sorted(Comparator.comparing(ClassCount::name))
                    .toList();
        }

        private static List<String> lines(List<ClassCount> classes) {
            List<String> lines = classes.stream()
                    .sorted(Comparator.comparingInt(ClassCount::images).reversed())
                    .limit(CLASSES)
                    .map(each -> String.format(
                            Locale.ROOT,
                            "  %s: %,d images, %,d readable",
                            QuotedText.visible(each.name()),
                            each.images(),
                            each.readable()))
                    .collect(Collectors.toCollection(ArrayList::new));
            if (classes.size() > CLASSES) {
                lines.add("  ... and " + (classes.size() - CLASSES) + " more classes");
            }
            return lines;
        }

        private static List<String> contents(Dataset<Row> readable) {
            Map<String, Long> formats = new TreeMap<>();
            Map<String, Long> colours = new TreeMap<>();
            for (Row row : readable.groupBy("format", "colour").count().collectAsList()) {
                formats.merge(row.getString(0), row.getLong(2), Long::sum);
                colours.merge(row.getString(1), row.getLong(2), Long::sum);
            }
            if (formats.isEmpty()) {
                return List.of();
            }
            Row spread = readable.agg(
                            min("width"),
                            percentile_approx(col("width"), lit(0.5), lit(ACCURACY)),
                            max("width"),
                            min("height"),
                            percentile_approx(col("height"), lit(0.5), lit(ACCURACY)),
                            max("height"))
                    .head();
            return List.of(
                    "format: " + counts(formats),
                    "colour: " + counts(colours),
                    String.format(
                            Locale.ROOT,
                            "width: min %,d, median %,d, max %,d; height: min %,d, median %,d, max %,d",
                            spread.getInt(0),
                            spread.getInt(1),
                            spread.getInt(2),
                            spread.getInt(3),
                            spread.getInt(4),
                            spread.getInt(5)));
        }

        private static String counts(Map<String, Long> counts) {
            return counts.entrySet().stream()
                    .map(entry -> String.format(Locale.ROOT, "%,d %s", entry.getValue(), entry.getKey()))
                    .collect(Collectors.joining(", "));
        }

        /** Returns lines for the terminal, with control characters in names escaped. */
        String text() {
            StringBuilder text = new StringBuilder();
            lines.forEach(line -> text.append(line).append(System.lineSeparator()));
            for (Finding finding : findings) {
                text.append(String.format(
                        Locale.ROOT, "%-8s%s%n", finding.severity().text(), QuotedText.visible(finding.sentence())));
                finding.items()
                        .forEach(item -> text.append("        - ")
                                .append(QuotedText.visible(item.toString()))
                                .append(System.lineSeparator()));
                text.append("        ").append(finding.advice()).append(System.lineSeparator());
            }
            return text.toString();
        }
    }
}
