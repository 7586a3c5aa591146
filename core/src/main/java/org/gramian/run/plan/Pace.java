package org.gramian.run.plan;

/**
 * How fast a machine was for a moment: seconds for one crop, and for one step of whatever many crops, measured by {@link
 * Probe}.
 *
 * @param decoding of an image, by one thread
 * @param feature of the frozen backbone, forward
 * @param head forward and backward through the head; forward alone where the classifier is solved for
 * @param all forward and backward through backbone and head; 0 where stage 2 is left out
 * @param update of the head's parameters after a step's gradients are known; 0 where none is taken
 */
public record Pace(double decoding, double feature, double head, double all, double update) {}
