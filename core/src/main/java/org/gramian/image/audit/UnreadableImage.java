package org.gramian.image.audit;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.gramian.image.ReadResult;

/**
 * An image that could not be read, and why.
 *
 * @param image which one
 * @param problem the kind of problem
 * @param reason a sentence for people
 */
public record UnreadableImage(@JsonProperty("picture") AuditedImage image, ReadResult.Problem problem, String reason) {}
