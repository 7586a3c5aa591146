package org.gramian.report;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.Finding;
import org.gramian.image.dataset.Dataset;

/** HTML page of an audit: verdict, findings with images, classes and image sizes. */
public record AuditPage(AuditReport report, ThumbnailSet album, Map<String, String> labels, String version) {
    /** Most lines of a list without images. */
    private static final int LINES = 200;

    public static AuditPage of(AuditReport report, Dataset dataset, ThumbnailSet album, String version) {
        Map<String, String> labels =
                dataset.samples().stream().collect(Collectors.toMap(sample -> sample.name(), dataset::className));
        report.duplicates().stream()
                .map(AuditReport.DuplicateGroup::images)
                .flatMap(List::stream)
                .forEach(member -> labels.put(
                        member.name(),
                        member.split().isEmpty() ? member.label() : member.label() + ", " + member.split()));
        return new AuditPage(report, album, labels, version);
    }

    public String html() {
        return ReportFile.render("audit.jte", this);
    }

    public List<Finding> findings(Finding.Severity severity) {
        return report.findings().stream()
                .filter(finding -> finding.severity() == severity)
                .toList();
    }

    public boolean imaged(Finding finding) {
        return finding.items().stream()
                .flatMap(item -> item.images().stream())
                .anyMatch(name -> album.image(name).isPresent());
    }

    public List<Finding.Item> shown(Finding finding) {
        return finding.items().stream().limit(limit(finding)).toList();
    }

    private int limit(Finding finding) {
        return imaged(finding) ? ThumbnailSet.ITEMS : LINES;
    }

    /** Returns a note such as {@code Showing 24 of 312.}; empty if all items are shown. */
    public String shownOf(Finding finding) {
        int all = finding.items().size();
        int limit = limit(finding);
        return all > limit ? "Showing " + limit + " of " + Figures.count(all) + "." : "";
    }

    public List<String> shown(Finding.Item item) {
        return item.images().stream().limit(ThumbnailSet.IMAGES).toList();
    }

    /** Returns the file name of an image; its folders mostly repeat the class. */
    public String fileName(String name) {
        return name.substring(name.lastIndexOf('/') + 1);
    }

    /** Returns for example {@code 2 errors and 1 warning: fix the errors before training.} */
    public static String verdict(AuditReport report) {
        int spoils = report.count(Finding.Severity.SPOILS);
        int warnings = report.count(Finding.Severity.WARN);
        if (spoils > 0) {
            String more = warnings == 0 ? "" : " and " + Figures.count(warnings, "warning");
            return Figures.count(spoils, "error") + more + ": fix " + (spoils == 1 ? "it" : "them")
                    + " before training.";
        }
        return warnings > 0 ? "No errors, " + Figures.count(warnings, "warning") + "." : "No errors or warnings.";
    }

    /** Returns the CSS class of the verdict: that of the worst finding. */
    public String verdictClass() {
        return report.findings().isEmpty()
                ? "FINE"
                : report.findings().getFirst().severity().name();
    }

    public String heading(Finding.Severity severity) {
        return switch (severity) {
            case SPOILS -> "Errors";
            case WARN -> "Warnings";
            case NOTE -> "Notes";
        };
    }

    public List<String> strip(AuditReport.ClassCount found) {
        return album.strips().getOrDefault(found.name(), List.of());
    }

    public double readablePercent(AuditReport.ClassCount found) {
        return Math.round(1000.0 * found.readable() / Math.max(1, found.images())) / 10.0;
    }

    /** Returns the bits per channel with their counts, as {@code 8 (990 images), 16 (10 images)}. */
    public String bits() {
        return report.contents().bits().entrySet().stream()
                .map(entry -> entry.getKey() + " (" + Figures.count(entry.getValue()) + ")")
                .collect(Collectors.joining(", "));
    }

    /** Returns the length of a bar in percent of the largest class. */
    public double percent(int images) {
        int most = report.classes().stream()
                .mapToInt(AuditReport.ClassCount::images)
                .max()
                .orElse(1);
        return Math.round(1000.0 * images / Math.max(1, most)) / 10.0;
    }

    /** Returns counts as text, such as {@code 980 rgb, 20 gray}. */
    public static String counts(Map<?, Integer> counts) {
        return counts.entrySet().stream()
                .map(entry -> Figures.count(entry.getValue()) + " "
                        + entry.getKey().toString().replace('_', ' '))
                .collect(Collectors.joining(", "));
    }
}
