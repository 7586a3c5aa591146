package org.gramian.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.basis.QuotedText;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.ClassCount;
import org.gramian.image.audit.Contents;
import org.gramian.image.audit.Finding;
import org.gramian.report.AuditVerdict;

/**
 * An audit as text for the terminal: classes, contents, findings, verdict. Names come from the disk: characters that a
 * terminal would obey are not passed on to it.
 *
 * @param report what is shown
 * @param all whether lists are shown whole
 */
record AuditTable(AuditReport report, boolean all) {
    /** A screen holds so many classes beside the findings; beyond it the largest and the smallest halves are shown. */
    private static final int CLASSES = 20;

    private static final int ITEMS = 5;
    private static final String INDENT = "        ";

    String text() {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "%s: %,d images in %,d classes (layout %s)%n%n",
                QuotedText.visible(report.root()),
                report.images(),
                report.classes().size(),
                QuotedText.visible(report.layout())));
        classes(text);
        contents(text);
        report.findings().forEach(finding -> finding(text, finding));
        return text.append(AuditVerdict.of(report))
                .append(System.lineSeparator())
                .toString();
    }

    private void classes(StringBuilder text) {
        Columns rows = new Columns();
        boolean lost = !report.unreadable().isEmpty();
        rows.row(Stream.of(
                        Stream.of("class", "images"),
                        lost ? Stream.of("readable") : Stream.<String>of(),
                        report.splits().stream())
                .flatMap(cells -> cells)
                .toList());
        List<ClassCount> classes = report.classes();
        if (all || classes.size() <= CLASSES) {
            classes.forEach(found -> rows.row(row(found, lost)));
        } else {
            List<ClassCount> sorted = classes.stream()
                    .sorted(Comparator.comparingInt(ClassCount::readable)
                            .reversed()
                            .thenComparing(ClassCount::name))
                    .toList();
            sorted.subList(0, CLASSES / 2).forEach(found -> rows.row(row(found, lost)));
            rows.row("... and " + (sorted.size() - CLASSES) + " more (--all)");
            sorted.subList(sorted.size() - CLASSES / 2, sorted.size()).forEach(found -> rows.row(row(found, lost)));
        }
        rows.appendTo(text);
        text.append(System.lineSeparator());
    }

    private static List<String> row(ClassCount found, boolean lost) {
        List<String> cells = new ArrayList<>(List.of(found.name(), number(found.images())));
        if (lost) {
            cells.add(number(found.readable()));
        }
        found.splits().forEach(count -> cells.add(number(count)));
        return cells;
    }

    private static String number(int value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private void contents(StringBuilder text) {
        Contents contents = report.contents();
        if (contents.readable() == 0) {
            return;
        }
        new Columns()
                .row("", "min", "median", "max")
                .row(row("width", contents.width()))
                .row(row("height", contents.height()))
                .appendTo(text);
        text.append("format  ").append(counts(contents.formats())).append(System.lineSeparator());
        text.append("colour  ").append(counts(contents.colours())).append(System.lineSeparator());
        text.append(System.lineSeparator());
    }

    private static List<String> row(String name, Contents.Spread spread) {
        return List.of(name, number(spread.smallest()), number(spread.median()), number(spread.largest()));
    }

    private static String counts(Map<?, Integer> counts) {
        return counts.entrySet().stream()
                .map(entry -> number(entry.getValue()) + " "
                        + entry.getKey().toString().replace('_', ' '))
                .collect(Collectors.joining(", "));
    }

    private void finding(StringBuilder text, Finding finding) {
        String newLine = System.lineSeparator();
        text.append(String.format(
                Locale.ROOT, "%-8s%s%n", finding.severity().text(), QuotedText.visible(finding.sentence())));
        int shown =
                all ? finding.items().size() : Math.min(ITEMS, finding.items().size());
        finding.items()
                .subList(0, shown)
                .forEach(item -> text.append(INDENT + "- ")
                        .append(QuotedText.visible(item.toString()))
                        .append(newLine));
        if (shown < finding.items().size()) {
            text.append(INDENT)
                    .append("... and " + number(finding.items().size() - shown) + " more (--all)")
                    .append(newLine);
        }
        text.append(INDENT).append(finding.advice()).append(newLine).append(newLine);
    }
}
