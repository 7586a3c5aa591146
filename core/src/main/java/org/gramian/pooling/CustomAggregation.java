package org.gramian.pooling;

/**
 * Aggregation of a user, to be used in a {@link Pooling}.
 *
 * <p>Its text form is for display only; {@link Pooling#parse} does not know the word.
 *
 * @since 0.1
 */
public non-sealed interface CustomAggregation extends Aggregation {}
