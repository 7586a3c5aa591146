package org.gramian.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Version;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.audit.finding.Auditor;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.report.AuditPage;
import org.gramian.report.Figures;
import org.gramian.report.ReportFile;
import org.gramian.report.ThumbnailSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian audit}: what in a folder of images would spoil training. */
@Command(name = "audit", header = "Check a dataset: unreadable images, duplicates, class imbalance.", description = """
                Reads every image once and reports class counts, unreadable images, duplicates and near-duplicates (also
                across classes and splits), small or imbalanced classes, and unusual sizes, aspect ratios and colours.
                Exit code 3 if an error would invalidate training.""")
public final class AuditCommand extends ConsoleCommand {
    private static final Path STANDARD_OUTPUT = Path.of("-");

    @Option(names = "--layout", paramLabel = "NAME", description = "layout, e.g. csv; see below (default: detected)")
    private @Nullable String layout;

    @Option(names = "--json", paramLabel = "FILE", description = "also write JSON; '-' prints only that")
    private @Nullable Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "also write an HTML report with thumbnails")
    private @Nullable Path html;

    @Option(names = "--threads", paramLabel = "N", description = "threads that decode images (default: all cores)")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--all", description = "show all classes and all images of a finding")
    private boolean all;

    @Parameters(index = "0", paramLabel = "DIR", description = "the folder, or a CSV file of path,label[,fold]")
    private Path folder;

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean printed = STANDARD_OUTPUT.equals(json);
        AtomicFile.require("--json", printed ? null : json, List.of());
        AtomicFile.require("--html", html, List.of());
        Function<Path, ReadResult> reader = new ImageReader(ImageLimits.DEFAULT)::read;
        Auditor audit = new Auditor(reader, threads);
        Dataset dataset = dataset();
        AuditReport report;
        try (Progress progress = console.progress("auditing", dataset.samples().size())) {
            report = audit.of(dataset, progress);
        }
        // Before the files: the work is not lost if one of them cannot be written.
        console.print(printed ? report.toJson() : new AuditTable(report, all, new StringBuilder()).format());
        if (json != null && !printed) {
            new ReportFile(json).write(report.toJson());
        }
        if (html != null) {
            ThumbnailSet album = ThumbnailSet.of(report, dataset, reader, threads);
            new ReportFile(html)
                    .write(AuditPage.of(report, dataset, album, Version.number())
                            .html());
        }
        return report.spoils() ? ExitCode.DATA : ExitCode.DONE;
    }

    /** Also one that cannot be trained on, for want of a class: the audit is there to say so. */
    private Dataset dataset() throws IOException {
        try {
            return Layouts.open(folder, Optional.ofNullable(layout));
        } catch (DatasetException e) {
            return e.dataset().orElseThrow(() -> e);
        }
    }

    /**
     * An audit as text for the terminal: classes, contents, findings, verdict. Names come from the disk: characters
     * that a terminal would obey are not passed on to it.
     */
    private record AuditTable(AuditReport report, boolean all, StringBuilder text) {
        /** Number of classes shown; beyond it the largest and the smallest halves. */
        private static final int CLASSES = 20;

        private static final int ITEMS = 5;

        String format() {
            String images = Figures.count(report.images()) + " images in "
                    + Figures.count(report.classes().size()) + " classes";
            text.append("%s: %s (layout %s)%n%n"
                    .formatted(QuotedText.visible(report.root()), images, QuotedText.visible(report.layout())));
            classes();
            contents();
            report.findings().forEach(this::finding);
            return text.append(AuditPage.verdict(report))
                    .append(System.lineSeparator())
                    .toString();
        }

        private void classes() {
            Columns rows = new Columns();
            boolean lost = !report.unreadable().isEmpty();
            List<String> head = new ArrayList<>(List.of("class", "images"));
            if (lost) {
                head.add("readable");
            }
            head.addAll(report.splits());
            rows.row(head);
            List<AuditReport.ClassCount> classes = report.classes();
            if (all || classes.size() <= CLASSES) {
                classes.forEach(found -> rows.row(row(found, lost)));
            } else {
                List<AuditReport.ClassCount> sorted = classes.stream()
                        .sorted(Comparator.comparingInt(AuditReport.ClassCount::readable)
                                .reversed()
                                .thenComparing(AuditReport.ClassCount::name))
                        .toList();
                sorted.subList(0, CLASSES / 2).forEach(found -> rows.row(row(found, lost)));
                rows.row("... and " + (sorted.size() - CLASSES) + " more (--all)");
                sorted.subList(sorted.size() - CLASSES / 2, sorted.size()).forEach(found -> rows.row(row(found, lost)));
            }
            text.append(rows);
            text.append(System.lineSeparator());
        }

        private static List<String> row(AuditReport.ClassCount found, boolean lost) {
            List<String> cells = new ArrayList<>(List.of(found.name(), Figures.count(found.images())));
            if (lost) {
                cells.add(Figures.count(found.readable()));
            }
            found.splits().forEach(count -> cells.add(Figures.count(count)));
            return cells;
        }

        private void contents() {
            AuditReport.Contents contents = report.contents();
            if (contents.readable() == 0) {
                return;
            }
            text.append(new Columns()
                    .row("", "min", "median", "max")
                    .row(row("width", contents.width()))
                    .row(row("height", contents.height())));
            text.append("format  %s%ncolour  %s%n%n"
                    .formatted(AuditPage.counts(contents.formats()), AuditPage.counts(contents.colours())));
        }

        private static List<String> row(String name, AuditReport.Contents.Spread spread) {
            return List.of(
                    name,
                    Figures.count(spread.smallest()),
                    Figures.count(spread.median()),
                    Figures.count(spread.largest()));
        }

        private void finding(Finding finding) {
            text.append(String.format(
                    Locale.ROOT, "%-8s%s%n", finding.severity().text(), QuotedText.visible(finding.sentence())));
            int items = finding.items().size();
            int shown = all ? items : Math.min(ITEMS, items);
            for (Object item : finding.items().subList(0, shown)) {
                text.append("        - %s%n".formatted(QuotedText.visible(item.toString())));
            }
            if (shown < items) {
                text.append("        ... and %s more (--all)%n".formatted(Figures.count(items - shown)));
            }
            text.append("        %s%n%n".formatted(finding.advice()));
        }
    }
}
