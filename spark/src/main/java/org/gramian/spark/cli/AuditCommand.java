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
import org.gramian.spark.executor.ImageColumn;
import org.gramian.spark.executor.PartitionAudit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code gramian spark audit}: what in many images would spoil training. */
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
            description = "images, folders (searched recursively), glob patterns, or tables")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> places;

    @Override
    public Integer call() throws IOException, InterruptedException {
        input.check();
        return SparkConnection.run(console, session -> {
            output.check(session, places, console);
            ImageCounters tally = new ImageCounters("");
            InputOptions.Images images = input.read(session, places, console);
            ImageCounters.Counted counted =
                    output.write(tally, facts(labels.named(images, input.isFiles()), session), console);
            AuditSummary summary = AuditSummary.of(session.read().parquet(output.place()));
            console.out().print(counted.text(output.place()) + summary.text());
            console.out().flush();
            boolean spoils = summary.findings().stream().anyMatch(found -> found.severity() == Severity.SPOILS);
            return spoils ? Main.DATA : Main.DONE;
        });
    }

    private static Dataset<Row> facts(Dataset<Row> named, SparkSession session) {
        ImageColumn column = new ImageColumn(
                2, new SerializableConfiguration(session.sessionState().newHadoopConf()));
        return named.mapPartitions(new PartitionAudit(column, 0, 1), Encoders.row(PartitionAudit.SCHEMA));
    }
}
