package org.gramian.image.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.gramian.image.audit.Finding.Item;

/** Which images are odd, by each {@link ImageIssue}. */
final class ImageFindings {
    private final AuditInput subject;
    private final List<ImageStatistics> facts;
    private final AuditOptions options;

    ImageFindings(AuditInput subject, List<ImageStatistics> facts, AuditOptions options) {
        this.subject = subject;
        this.facts = facts;
        this.options = options;
    }

    List<Finding> find() {
        List<Finding> findings = new ArrayList<>();
        for (ImageIssue oddity : ImageIssue.values()) {
            List<ImageStatistics> found = facts.stream()
                    .filter(fact -> oddity.of(fact, subject.member(fact.index()).name(), options))
                    .toList();
            if (!found.isEmpty()) {
                String kinds = oddity == ImageIssue.COLOUR_MODES ? kinds(found) : "";
                findings.add(oddity.finding(found.size(), items(oddity, found), oddity.what(options) + kinds));
            }
        }
        return findings;
    }

    private List<Item> items(ImageIssue oddity, List<ImageStatistics> found) {
        return found.stream()
                .map(fact -> {
                    AuditedImage member = subject.member(fact.index());
                    return new Item(member.toString(), oddity.detail(fact), List.of(member.name()));
                })
                .toList();
    }

    private static String kinds(List<ImageStatistics> found) {
        return found.stream()
                .collect(Collectors.groupingBy(
                        fact -> ImageIssue.mode(fact.origin()), TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(entry -> entry.getValue() + " " + entry.getKey())
                .collect(Collectors.joining(", ", ": ", ""));
    }
}
