package org.gramian.image.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.gramian.image.audit.Finding.Item;

/** Which pictures are odd, by each {@link PictureOddity}. */
final class PictureFindings {
    private final Subject subject;
    private final List<Facts> facts;
    private final AuditOptions options;

    PictureFindings(Subject subject, List<Facts> facts, AuditOptions options) {
        this.subject = subject;
        this.facts = facts;
        this.options = options;
    }

    List<Finding> find() {
        List<Finding> findings = new ArrayList<>();
        for (PictureOddity oddity : PictureOddity.values()) {
            List<Facts> found = facts.stream()
                    .filter(fact -> oddity.of(fact, subject.member(fact.index()).name(), options))
                    .toList();
            if (!found.isEmpty()) {
                String kinds = oddity == PictureOddity.COLOUR_MODES ? kinds(found) : "";
                findings.add(oddity.finding(found.size(), items(oddity, found), oddity.what(options) + kinds));
            }
        }
        return findings;
    }

    private List<Item> items(PictureOddity oddity, List<Facts> found) {
        return found.stream()
                .map(fact -> {
                    Member member = subject.member(fact.index());
                    return new Item(member.toString(), oddity.detail(fact), List.of(member.name()));
                })
                .toList();
    }

    private static String kinds(List<Facts> found) {
        return found.stream()
                .collect(Collectors.groupingBy(
                        fact -> PictureOddity.mode(fact.origin()), TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(entry -> entry.getValue() + " " + entry.getKey())
                .collect(Collectors.joining(", ", ": ", ""));
    }
}
