package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.Audit;
import org.gramian.image.audit.AuditFile;
import org.gramian.image.audit.AuditOptions;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.report.AuditPage;
import org.gramian.report.ReportFile;
import org.gramian.report.ThumbnailSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian audit}: what in a folder of images would spoil training. */
@Command(
        name = "audit",
        mixinStandardHelpOptions = true,
        header = "Check a dataset: unreadable images, duplicates, class imbalance.",
        description = {
            "Reads every image once and reports class counts, unreadable images, duplicates and near-duplicates (also",
            "across classes and splits), small or imbalanced classes, and unusual sizes, aspect ratios and colours.",
            "Exit code 3 if an error would invalidate training."
        })
final class AuditCommand implements Callable<Integer> {
    /** The layouts, for the help. */
    static final class Forms implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Layouts.all().stream().map(Layouts.Description::form).iterator();
        }
    }

    private static final Path STANDARD_OUTPUT = Path.of("-");

    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--layout",
            paramLabel = "NAME",
            completionCandidates = Forms.class,
            description = "directory layout: ${COMPLETION-CANDIDATES} (default: detected)")
    private @Nullable String layout;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "also write JSON; '-' prints only JSON to standard output")
    private @Nullable Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "also write an HTML report with thumbnails")
    private @Nullable Path html;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "worker threads that decode images (default: all cores)")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--all", description = "show all classes and all images of a finding")
    private boolean all;

    @Parameters(index = "0", paramLabel = "DIR", description = "the folder, or a CSV file of path,label[,fold]")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path folder;

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean printed = STANDARD_OUTPUT.equals(json);
        ReportFile data = json == null || printed ? null : ReportFile.of(json);
        ReportFile page = html == null ? null : ReportFile.of(html);
        Function<Path, ReadResult> reader = new ImageReader(ImageLimits.DEFAULT)::read;
        Audit audit = new Audit(AuditOptions.DEFAULT, reader, threads);
        Dataset dataset = dataset();
        AuditReport report = run(audit, dataset);
        // Before the files: the work is not lost if one of them cannot be written.
        console.out().print(printed ? AuditFile.text(report) : new AuditTable(report, all).text());
        console.out().flush();
        if (data != null) {
            data.write(AuditFile.text(report));
        }
        if (page != null) {
            ThumbnailSet album = ThumbnailSet.of(report, dataset, reader, threads);
            page.write(AuditPage.of(report, dataset, album, Version.number()).html());
        }
        return report.spoils() ? Main.DATA : Main.DONE;
    }

    /** Also one that cannot be trained on, for want of a class: the audit is there to say so. */
    private Dataset dataset() throws IOException {
        try {
            return Layouts.open(folder, Optional.ofNullable(layout));
        } catch (DatasetException e) {
            return e.dataset().orElseThrow(() -> e);
        }
    }

    private AuditReport run(Audit audit, Dataset dataset) throws InterruptedException {
        try (Progress progress = console.progress("auditing", dataset.samples().size())) {
            return audit.of(dataset, progress);
        }
    }
}
