package org.gramian.check.doctor;

/**
 * One comparison of a self-check.
 *
 * @param subject checked tensor, such as {@code kernel_rbf_mean: dM}
 * @param error largest deviation relative to the largest magnitude of the expected tensor
 */
public record CheckResult(String subject, double error, double tolerance) {
    /** Returns whether the error is a number within the tolerance. */
    public boolean passed() {
        return error <= tolerance;
    }
}
