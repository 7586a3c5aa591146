/**
 * Named protocols that split a dataset into train, validation and test sets.
 *
 * <p>A {@link org.gramian.image.dataset.protocol.Protocol} comes from its text ({@link
 * org.gramian.image.dataset.protocol.Protocols#parse}), or from what is usual for a dataset. Its {@code plan} is the
 * list of {@link org.gramian.image.dataset.protocol.Fold}s, with notes and the {@link
 * org.gramian.image.dataset.protocol.Fingerprint} that every result carries:
 *
 * <pre>{@code
 * Plan plan = Protocols.parse("thirds:3").plan(dataset, Duplicates.of(dataset), 7);
 * plan.folds().get(0).test();                  // indexes into dataset.samples()
 * plan.fingerprint().brief();                  // 3f2a90c41b7d
 * }</pre>
 *
 * <p>There are two families. {@link org.gramian.image.dataset.protocol.Seeded} protocols divide every class at random and
 * keep identical files ({@link org.gramian.image.dataset.protocol.Duplicates}) together; inside, {@code Quotas} says how
 * much of a class each part gets, {@code Stratification} deals. {@link org.gramian.image.dataset.protocol.Official} ones
 * take the folds that the dataset lays down, as they are, and note identical files that they separate.
 */
@NullMarked
package org.gramian.image.dataset.protocol;

import org.jspecify.annotations.NullMarked;
