/**
 * A model behind HTTP: {@code ./gramian serve MODEL}.
 *
 * <p>A request's way: {@link org.gramian.serve.Server} listens. {@code RequestGuard} decides who may ask. {@code Api} takes the
 * request on, where {@code Admission} has room for it, and leases the model from the {@code ModelSlot}; {@code Body} reads its
 * bytes, {@code Uploads} finds the images among them. {@code Pipeline} has each decoded by the {@code FairThreads} and gives
 * its crops to the {@code WorkQueue}, from which the {@code Batcher}, one thread, takes and computes what can be computed
 * together, and explanations between. What it takes sets the {@code ComputeTimes} that {@code Admission} reckons with. {@code ImageAnswers} says what came of it, {@code Json} writes it while the request still holds its room, {@code
 * Problems} says what went wrong.
 */
@NullMarked
package org.gramian.serve;

import org.jspecify.annotations.NullMarked;
