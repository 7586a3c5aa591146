package org.gramian.spark.cli;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import org.gramian.image.audit.Severity;
import org.gramian.spark.executor.PartitionAudit;
import org.gramian.spark.executor.PictureColumn;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gramian spark audit}: what in many pictures would spoil training. */
@Command(
        name = "audit",
        mixinStandardHelpOptions = true,
        header = "What in many images would spoil training.",
        description = {
            "Reads every image once, writes a row of facts for each (path, label, format, colour, bits, width, height,",
            "orientation, pixels: a hash, odd, error, error_kind), and shows classes and counts, images that cannot be",
            "read, equal images (also across classes), classes that are small or unbalanced, images of odd sizes,",
            "shapes and colours. Almost equal images and splits are looked at by 'gramian audit' alone, on one machine.",
            "Exit code 3 if something would spoil training.",
            "For example: gramian spark audit 's3a://bucket/photos/*' --out facts.parquet"
        })
final class AuditCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Mixin
    private final InputOptions input = new InputOptions();

    @Mixin
    private final OutputOptions output = new OutputOptions();

    @Mixin
    private final LabelOptions labels = new LabelOptions();

    @Parameters(
            index = "0..*",
            arity = "1..*",
            paramLabel = "PLACE",
            description = "images, folders (all images at any depth), patterns, or tables")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> places;

    @Override
    public Integer call() throws IOException, InterruptedException {
        input.check();
        return Session.run(console, session -> {
            output.check(session, places, console);
            Tally tally = new Tally("");
            InputOptions.Pictures pictures = input.read(session, places, console);
            Tally.Counted counted =
                    output.write(tally, facts(labels.named(pictures, input.isFiles()), session), console);
            AuditSummary summary = AuditSummary.of(session.read().parquet(output.place()));
            console.out().print(counted.text(output.place()) + summary.text());
            console.out().flush();
            boolean spoils = summary.findings().stream().anyMatch(found -> found.severity() == Severity.SPOILS);
            return spoils ? Main.DATA : Main.DONE;
        });
    }

    private static Dataset<Row> facts(Dataset<Row> named, SparkSession session) {
        PictureColumn column = new PictureColumn(
                2, new SerializableConfiguration(session.sessionState().newHadoopConf()));
        return named.mapPartitions(new PartitionAudit(column, 0, 1), Encoders.row(PartitionAudit.SCHEMA));
    }
}
