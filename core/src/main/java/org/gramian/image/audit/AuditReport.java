package org.gramian.image.audit;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.basis.AtomicTextFile;
import org.gramian.basis.JsonText;
import org.gramian.image.ReadResult;

/**
 * The result of an audit; the same for the same files, for any number of threads.
 *
 * @param root the folder
 * @param options the thresholds
 * @param splits the parts of the only published split, in the order of {@link ClassCount#splits}; empty without one
 * @param content 64 hexadecimal digits, a hash of the names and pixels of all readable images
 * @param classes image counts, in the order of the dataset
 * @param contents formats and sizes of the readable images
 * @param findings problems, the worst first
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
    /** Name of the JSON file in the folder of a run. */
    public static final String FILE_NAME = "audit.json";

    public AuditReport {
        splits = List.copyOf(splits);
        classes = List.copyOf(classes);
        unreadable = List.copyOf(unreadable);
        duplicates = List.copyOf(duplicates);
        findings = List.copyOf(findings);
    }

    /** Returns the report of the same folder under another path. */
    public AuditReport withRoot(String other) {
        return new AuditReport(
                other, layout, options, splits, content, classes, contents, unreadable, duplicates, findings);
    }

    /** Returns the report as JSON. */
    public String json() {
        return JsonText.indented(this) + "\n";
    }

    /** Writes the report as JSON, replacing the file atomically. */
    public void write(Path file) throws IOException {
        AtomicTextFile.write(file, text -> text.write(json()));
    }

    /** Returns the number of images, readable or not. */
    @JsonProperty("images")
    public int images() {
        return contents.readable() + unreadable.size();
    }

    /** Returns whether there are findings that invalidate training or its results. */
    @JsonProperty("spoils")
    public boolean spoils() {
        return count(Severity.SPOILS) > 0;
    }

    /** Returns the number of findings of a severity. */
    public int count(Severity severity) {
        return (int) findings.stream()
                .filter(finding -> finding.severity() == severity)
                .count();
    }

    /** Returns the finding of a kind. */
    public Optional<Finding> finding(Finding.Kind kind) {
        return findings.stream().filter(finding -> finding.kind() == kind).findFirst();
    }

    /**
     * An image as the report names it.
     *
     * @param name its name in the dataset
     * @param label the name of its class
     * @param split the part of the dataset's only split that it is in, as {@code train}; empty where there is no split,
     *     where there are several, or where it takes no part
     */
    public record AuditedImage(String name, String label, String split) {
        /** For example {@code paper/b.jpg [train]}; the class is said where it does not show in the name. */
        @Override
        public String toString() {
            String where = name.startsWith(label + "/") || name.contains("/" + label + "/") ? "" : label;
            String part = name.startsWith(split + "/") ? "" : split;
            String both = where + (where.isEmpty() || part.isEmpty() ? "" : ", ") + part;
            return both.isEmpty() ? name : name + " [" + both + "]";
        }
    }

    /**
     * An image that could not be read, and why.
     *
     * @param image which one
     * @param problem the kind of problem
     * @param reason a sentence for people
     */
    public record UnreadableImage(AuditedImage image, ReadResult.Problem problem, String reason) {}
}
