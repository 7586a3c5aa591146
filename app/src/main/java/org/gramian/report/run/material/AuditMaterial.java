package org.gramian.report.run.material;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the audit of a run's images found, from the JSON file that {@code audit --json} writes.
 *
 * @param images how many there are
 * @param classes how many kinds of them
 * @param unreadable how many could not be read
 * @param copies groups of equal or almost equal images
 * @param findings what it means, the worst first
 */
public record AuditMaterial(int images, int classes, int unreadable, int copies, List<Found> findings) {
    /** Far more than an audit of a million images takes. */
    private static final long MOST_BYTES = 1L << 28;

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    /**
     * One finding.
     *
     * @param severity {@code SPOILS}, {@code WARN} or {@code NOTE}
     * @param sentence what was found
     * @param advice what to do about it
     */
    public record Found(String severity, String sentence, String advice) {
        /** The style of the severity; what is none has none. */
        public String style() {
            return List.of("SPOILS", "WARN", "NOTE").contains(severity) ? severity : "soft";
        }

        /** The severity in words, for the badge of the finding. */
        public String badge() {
            return switch (severity) {
                case "SPOILS" -> "error";
                case "WARN" -> "warning";
                case "NOTE" -> "note";
                default -> severity;
            };
        }
    }

    public AuditMaterial {
        findings = List.copyOf(findings);
    }

    /** @throws IOException if the file holds no audit */
    static AuditMaterial read(Path file) throws IOException {
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
        if (!root.path("pictures").isInt() || !root.path("findings").isArray()) {
            throw new IOException(file + ": expected an audit with images and findings, found something else");
        }
        List<Found> findings = new ArrayList<>();
        for (JsonNode finding : root.path("findings")) {
            findings.add(new Found(text(finding, "severity"), text(finding, "sentence"), text(finding, "advice")));
        }
        return new AuditMaterial(
                root.path("pictures").asInt(),
                root.path("classes").size(),
                root.path("unreadable").size(),
                root.path("duplicates").size(),
                findings);
    }

    private static String text(JsonNode node, String key) {
        return node.path(key).asString("");
    }
}
