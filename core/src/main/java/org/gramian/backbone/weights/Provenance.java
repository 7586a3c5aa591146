package org.gramian.backbone.weights;

/**
 * Where weights came from, for cache keys, model files and reports.
 *
 * @param fingerprint SHA-256 of names, types, shapes and elements in the network's order, whatever the file
 * @param source the name of the file that was imported or opened
 * @param sourceSha256 SHA-256 of that file, or {@code unknown}
 * @param licence of the weights, or that the file does not state one
 */
public record Provenance(String fingerprint, String source, String sourceSha256, String licence) {
    /** For a source that was not hashed. */
    static final String UNKNOWN = "unknown";
}
