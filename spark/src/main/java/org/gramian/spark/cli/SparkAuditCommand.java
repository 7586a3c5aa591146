package org.gramian.spark.cli;

import static org.apache.spark.sql.functions.array;
import static org.apache.spark.sql.functions.coalesce;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat_ws;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.count_distinct;
import static org.apache.spark.sql.functions.explode;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.max;
import static org.apache.spark.sql.functions.min;
import static org.apache.spark.sql.functions.struct;
import static org.apache.spark.sql.functions.sum;
import static org.apache.spark.sql.functions.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.gramian.basis.QuotedText;
import org.gramian.image.audit.AuditOptions;
import org.gramian.image.audit.AuditReport.ClassCount;
import org.gramian.image.audit.DatasetFindings;
import org.gramian.image.audit.Finding;
import org.gramian.image.audit.Finding.Item;
import org.gramian.image.audit.Finding.Kind;
import org.gramian.image.audit.Finding.Severity;
import org.gramian.image.audit.ImageIssue;
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
        Dataset<Row> facts = session.read().parquet(output.place());
        List<ClassCount> classes = classes(facts);
        List<Finding> findings = new ArrayList<>(DatasetFindings.ofClasses(classes, AuditOptions.DEFAULT));
        findings.addAll(ofImages(facts));
        findings.addAll(ofDuplicates(facts));
        findings.sort(Comparator.comparing(Finding::severity).thenComparing(Finding::kind));
        print(written.text() + classText(classes) + findingText(findings));
        boolean spoils = findings.stream().anyMatch(found -> found.severity() == Severity.SPOILS);
        return spoils ? SparkMain.DATA : SparkMain.DONE;
    }

    private static List<ClassCount> classes(Dataset<Row> facts) {
        return facts.groupBy("label").agg(count(lit(1)), count("format")).orderBy("label").collectAsList().stream()
                .map(row -> new ClassCount(
                        String.valueOf(row.getString(0)),
                        Math.toIntExact(row.getLong(1)),
                        Math.toIntExact(row.getLong(2)),
                        List.of()))
                .toList();
    }

    /** Finds problems of single images. Names the first and the last image of each: a full list may exceed the driver's memory. */
    private static List<Finding> ofImages(Dataset<Row> facts) {
        Column shape = concat_ws(" ", concat_ws("×", col("width"), col("height")), col("format"), col("colour"));
        Column example = struct(col("path"), coalesce(col("error"), shape));
        Column kinds = when(col("error").isNull(), col("odd")).otherwise(array(lit(Kind.UNREADABLE.name())));
        return facts
                .withColumn("kind", explode(kinds))
                .groupBy("kind")
                .agg(count(lit(1)), min(example), max(example))
                .collectAsList()
                .stream()
                .map(row -> {
                    int number = Math.toIntExact(row.getLong(1));
                    List<Item> items = Stream.of(row.getStruct(2), row.getStruct(3))
                            .distinct()
                            .map(one -> item(String.valueOf(one.getString(0)), one.getString(1)))
                            .toList();
                    return row.getString(0).equals(Kind.UNREADABLE.name())
                            ? DatasetFindings.unreadable(number, items)
                            : ImageIssue.valueOf(row.getString(0)).finding(number, items, AuditOptions.DEFAULT);
                })
                .toList();
    }

    private static Item item(String image, String remark) {
        return new Item(image, remark, List.of(image));
    }

    /** Finds images with equal pixels. */
    private static List<Finding> ofDuplicates(Dataset<Row> facts) {
        Column group = struct(col("first"), col("last"), col("images"));
        return facts
                .where(col("error").isNull())
                .groupBy("pixels")
                .agg(
                        count(lit(1)).as("images"),
                        count_distinct(col("label")).as("labels"),
                        min("path").as("first"),
                        max("path").as("last"))
                .where("images > 1")
                .groupBy(col("labels").gt(1))
                .agg(count(lit(1)), sum("images"), min(group), max(group))
                .collectAsList()
                .stream()
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
