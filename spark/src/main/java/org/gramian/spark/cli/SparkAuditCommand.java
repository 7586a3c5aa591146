package org.gramian.spark.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.basis.QuotedText;
import org.gramian.image.audit.AuditReport.ClassCount;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.audit.AuditReport.Finding.Item;
import org.gramian.image.audit.AuditReport.Finding.Kind;
import org.gramian.image.audit.AuditReport.Finding.Severity;
import org.gramian.image.audit.finding.DatasetFindings;
import org.gramian.image.audit.finding.ImageIssue;
import org.gramian.spark.cli.SparkInputOptions.LabelOptions;
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.PartitionAudit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gramian spark audit}: problems of a large dataset. */
@Command(
        name = "audit",
        header = "Checks a large dataset for problems before training.",
        description = {
            "Reads every image once, writes a row for each (path, label, format, colour, bits, width, height,",
            "orientation, pixels: a hash, odd, error, error_kind), and prints the largest classes, unreadable images,",
            "duplicates (also across classes), small or unbalanced classes, and images of unusual sizes,",
            "shapes and colours. Near-duplicates and splits are checked only by 'gramian audit', on one machine.",
            "Exit code 3 if there are errors.",
            "Example: gramian spark audit 's3a://bucket/photos/*' --out facts.parquet"
        })
final class SparkAuditCommand extends SparkCommand {
    /** Most classes listed, the largest. */
    private static final int CLASSES = 20;

    @Mixin
    private final LabelOptions labels = new LabelOptions();

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "images, folders (searched recursively), glob patterns, or tables")
    private List<String> places;

    @Override
    void check() {}

    @Override
    int run(SparkSession session) throws IOException, InterruptedException {
        output.check(places, session.sessionState().newHadoopConf());
        Dataset<Row> images = labels.namedOrUnlabelled(input.read(session, places, this::log));
        PartitionAudit audit = new PartitionAudit(ImageColumn.of(2, session), 0, 1);
        OutputOptions.Written written =
                output.write(images.mapPartitions(audit, Encoders.row(PartitionAudit.SCHEMA)), "error", this);
        session.read().parquet(output.place()).createOrReplaceTempView("facts");
        List<ClassCount> classes = classes(session);
        List<Finding> findings = new ArrayList<>(DatasetFindings.ofClasses(classes));
        findings.addAll(ofImages(session));
        findings.addAll(ofDuplicates(session));
        findings.sort(Comparator.comparing(Finding::severity).thenComparing(Finding::kind));
        print(written.text() + classText(classes) + findingText(findings));
        boolean spoils = findings.stream().anyMatch(found -> found.severity() == Severity.SPOILS);
        return spoils ? SparkMain.DATA : SparkMain.DONE;
    }

    private static List<ClassCount> classes(SparkSession session) {
        return session
                .sql("SELECT label, count(*), count(format) FROM facts GROUP BY label ORDER BY label")
                .collectAsList()
                .stream()
                .map(row -> new ClassCount(
                        String.valueOf(row.getString(0)),
                        Math.toIntExact(row.getLong(1)),
                        Math.toIntExact(row.getLong(2)),
                        List.of()))
                .toList();
    }

    /** Finds problems of single images. Names the first and the last image of each: a full list may exceed the driver's memory. */
    private static List<Finding> ofImages(SparkSession session) {
        return session.sql("""
            SELECT kind, count(*), min(example), max(example) FROM (
              SELECT explode(if(error IS NULL, odd, array('UNREADABLE'))) AS kind,
                struct(path, coalesce(error, concat(width, '×', height, ' ', format, ' ', colour))) AS example
              FROM facts)
            GROUP BY kind\
            """).collectAsList().stream()
                .map(row -> {
                    int number = Math.toIntExact(row.getLong(1));
                    List<Item> items = Stream.of(row.getStruct(2), row.getStruct(3))
                            .distinct()
                            .map(one -> new Item(one.getString(0), one.getString(1), List.of(one.getString(0))))
                            .toList();
                    return row.getString(0).equals(Kind.UNREADABLE.name())
                            ? DatasetFindings.unreadable(number, items)
                            : ImageIssue.valueOf(row.getString(0)).finding(number, items);
                })
                .toList();
    }

    /** Finds images with equal pixels. Names the first and the last group. */
    private static List<Finding> ofDuplicates(SparkSession session) {
        return session.sql("""
            SELECT labels > 1, count(*), sum(images), min(example), max(example) FROM (
              SELECT count(DISTINCT label) AS labels, count(*) AS images,
                struct(min(path), max(path), count(*)) AS example
              FROM facts WHERE error IS NULL GROUP BY pixels HAVING count(*) > 1)
            GROUP BY labels > 1\
            """).collectAsList().stream()
                .map(SparkAuditCommand::duplicates)
                .toList();
    }

    private static Finding duplicates(Row row) {
        boolean acrossClasses = row.getBoolean(0);
        List<Item> items = Stream.of(row.getStruct(3), row.getStruct(4))
                .distinct()
                .map(group -> new Item(
                        group.getString(0) + " = " + group.getString(1),
                        group.getLong(2) == 2 ? "" : group.getLong(2) + " in total",
                        List.of(group.getString(0), group.getString(1))))
                .toList();
        return new Finding(
                acrossClasses ? Severity.SPOILS : Severity.WARN,
                acrossClasses ? Kind.COPIES_ACROSS_CLASSES : Kind.COPIES,
                String.format(
                        Locale.ROOT,
                        "%,d images are duplicates%s, in %,d groups",
                        row.getLong(2),
                        acrossClasses ? " with different labels" : "",
                        row.getLong(1)),
                acrossClasses
                        ? "One of the labels is wrong, or an image shows both classes: keep one copy, or none."
                        : "They count more than other images, and a random split may separate them: keep one.",
                items);
    }

    private static String classText(List<ClassCount> classes) {
        String largest = classes.stream()
                .sorted(Comparator.comparingInt(ClassCount::images).reversed())
                .limit(CLASSES)
                .map(each -> String.format(
                        Locale.ROOT,
                        "  %s: %,d images, %,d readable%n",
                        QuotedText.visible(each.name()),
                        each.images(),
                        each.readable()))
                .collect(Collectors.joining());
        return String.format(Locale.ROOT, "%,d classes%n", classes.size()) + largest;
    }

    private static String findingText(List<Finding> findings) {
        StringBuilder text = new StringBuilder();
        for (Finding finding : findings) {
            text.append(String.format(
                    Locale.ROOT, "%-8s%s%n", finding.severity().text(), QuotedText.visible(finding.sentence())));
            finding.items()
                    .forEach(item -> text.append("        - %s%n".formatted(QuotedText.visible(item.toString()))));
            text.append("        %s%n".formatted(finding.advice()));
        }
        return text.toString();
    }
}
