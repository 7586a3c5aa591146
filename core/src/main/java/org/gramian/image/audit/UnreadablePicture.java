package org.gramian.image.audit;

import org.gramian.image.Reading;

/**
 * A picture that could not be read, and why.
 *
 * @param picture which one
 * @param problem the kind of problem
 * @param reason a sentence for people
 */
public record UnreadablePicture(Member picture, Reading.Problem problem, String reason) {}
