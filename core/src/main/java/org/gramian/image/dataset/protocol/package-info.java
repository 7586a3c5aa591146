/**
 * Named protocols that split a dataset into train, validation and test sets.
 *
 * <p>A {@link org.gramian.image.dataset.protocol.Protocol} comes from its text ({@link
 * org.gramian.image.dataset.protocol.Protocol#parse}), or from what is usual for a dataset. Its {@code plan} is the
 * list of {@link org.gramian.image.dataset.protocol.Fold}s, with notes and the {@link
 * org.gramian.image.dataset.protocol.Fingerprint} that every result carries:
 *
 * <pre>{@code
 * FoldSet plan = Protocol.parse("thirds:3").plan(dataset, Duplicates.of(dataset), 7);
 * plan.folds().get(0).test();                  // indexes into dataset.samples()
 * plan.fingerprint().brief();                  // 3f2a90c41b7d
 * }</pre>
 *
 * <p>There are two families. {@code RandomProtocol}s split every class at random ({@code
 * Stratification}) and keep {@link org.gramian.image.dataset.protocol.Duplicates} together. {@code
 * OfficialProtocol}s take the folds of the dataset as they are, and note identical files that
 * they separate.
 */
@NullMarked
package org.gramian.image.dataset.protocol;

import org.jspecify.annotations.NullMarked;
