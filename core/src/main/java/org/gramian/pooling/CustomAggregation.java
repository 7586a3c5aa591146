package org.gramian.pooling;

/**
 * The door for methods of users: implement it and put it into a {@link Pooling}.
 *
 * <p>Its text form is for reading only; {@link Pooling#parse} does not know the word.
 */
public non-sealed interface CustomAggregation extends Aggregation {}
