package org.gramian.image.audit;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Optional;

/**
 * What an audit found; the same for the same files, whatever the number of threads.
 *
 * @param root the folder
 * @param layout the layout that was read
 * @param options where the lines were drawn
 * @param splits the parts of the only given split, in the order of {@link ClassCount#splits}; empty without one
 * @param content 64 hexadecimal digits, a hash of the names and pixels of all readable images: others for other images
 * @param classes how many images each class has, in the order of the dataset
 * @param contents what the readable images are like
 * @param unreadable those that could not be read
 * @param duplicates groups of duplicates
 * @param findings what it means, the worst first
 */
public record AuditReport(
        String root,
        String layout,
        AuditOptions options,
        List<String> splits,
        String content,
        List<ClassCount> classes,
        Contents contents,
        List<UnreadableImage> unreadable,
        List<DuplicateGroup> duplicates,
        List<Finding> findings) {
    public AuditReport {
        splits = List.copyOf(splits);
        classes = List.copyOf(classes);
        unreadable = List.copyOf(unreadable);
        duplicates = List.copyOf(duplicates);
        findings = List.copyOf(findings);
    }

    /** How many images there are, readable or not. */
    @JsonProperty("pictures")
    public int images() {
        return contents.readable() + unreadable.size();
    }

    /** Whether something was found that would spoil training. */
    @JsonProperty("spoils")
    public boolean spoils() {
        return count(Severity.SPOILS) > 0;
    }

    /** How many findings have a severity. */
    public int count(Severity severity) {
        return (int) findings.stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }

    /** The finding of a kind, if there is one. */
    public Optional<Finding> finding(Finding.Kind kind) {
        return findings.stream().filter(finding -> finding.kind() == kind).findFirst();
    }
}
