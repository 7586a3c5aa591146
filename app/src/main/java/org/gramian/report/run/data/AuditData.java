package org.gramian.report.run.data;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Audit of the images of a run, from the JSON file of {@code audit --json}.
 *
 * @param images number of images
 * @param classes number of classes
 * @param unreadable number of unreadable files
 * @param duplicates number of groups of duplicates
 * @param findings worst first
 */
public record AuditData(int images, int classes, int unreadable, int duplicates, List<Finding> findings) {
    /** Far larger than the audit of a million images. */
    private static final long MOST_BYTES = 1L << 28;

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    /**
     * Finding of an audit.
     *
     * @param severity {@code SPOILS}, {@code WARN} or {@code NOTE}
     * @param sentence description
     * @param advice recommended action
     */
    public record Finding(String severity, String sentence, String advice) {
        /** Returns the CSS class of the severity. */
        public String style() {
            return List.of("SPOILS", "WARN", "NOTE").contains(severity) ? severity : "soft";
        }

        /** Returns the badge of the severity. */
        public String badge() {
            return switch (severity) {
                case "SPOILS" -> "error";
                case "WARN" -> "warning";
                case "NOTE" -> "note";
                default -> severity;
            };
        }
    }

    public AuditData {
        findings = List.copyOf(findings);
    }

    /** @throws IOException if the file holds no audit */
    static AuditData read(Path file) throws IOException {
        if (Files.size(file) > MOST_BYTES) {
            throw new IOException(
                    file + ": expected an audit of at most " + MOST_BYTES + " bytes, found " + Files.size(file));
        }
        JsonNode root;
        try {
            root = MAPPER.readTree(Files.readAllBytes(file));
        } catch (JacksonException damaged) {
            throw new IOException(
                    file + ": expected an audit in JSON, found: " + damaged.getOriginalMessage(), damaged);
        }
        JsonNode images = root.path("images");
        if (!images.isInt() || !root.path("findings").isArray()) {
            throw new IOException(file + ": expected an audit with images and findings, found something else");
        }
        List<Finding> findings = new ArrayList<>();
        for (JsonNode finding : root.path("findings")) {
            findings.add(new Finding(text(finding, "severity"), text(finding, "sentence"), text(finding, "advice")));
        }
        return new AuditData(
                images.asInt(),
                root.path("classes").size(),
                root.path("unreadable").size(),
                root.path("duplicates").size(),
                findings);
    }

    private static String text(JsonNode node, String key) {
        return node.path(key).asString("");
    }
}
