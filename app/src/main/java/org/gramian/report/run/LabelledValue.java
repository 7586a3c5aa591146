package org.gramian.report.run;

/**
 * One line of what is known.
 *
 * @param label what
 * @param value in words
 */
public record LabelledValue(String label, String value) {}
