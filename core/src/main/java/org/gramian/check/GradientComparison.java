package org.gramian.check;

/**
 * One gradient beside central differences, and beside what the layers say that they compute instead of the derivative.
 *
 * @param subject what was compared: an input as {@code conv.weight}, or a statement of how a formula deviates
 * @param error largest deviation from the derivative, relative to the largest magnitude of the gradient
 * @param fromStated the same from the stated formulas; the error itself where every layer claims the derivative
 * @param tolerance the largest deviation that passes
 */
public record GradientComparison(String subject, double error, double fromStated, double tolerance) {
    /** Whether the gradient is what is stated: the derivative, or a formula that deviates from it by a known factor. */
    public boolean passed() {
        return fromStated <= tolerance;
    }

    /** Whether the gradient is not the derivative. */
    public boolean deviates() {
        return !(error <= tolerance);
    }
}
