package org.gramian.report.run;

/**
 * Label and value, a row of a table.
 *
 * @param label name of the value
 * @param value text
 */
public record LabelledValue(String label, String value) {}
