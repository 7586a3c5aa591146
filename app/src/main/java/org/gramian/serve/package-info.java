/**
 * A model behind HTTP: {@code ./gramian serve MODEL}.
 *
 * <p>The way of a request: {@link org.gramian.serve.Server} listens. {@code RequestGuard} checks address and token. {@code Api}
 * admits the request if {@code Admission} has capacity, and leases the model from the {@code ModelSlot}. {@code Body} reads
 * the bytes, {@code Uploads} finds the images in them. {@code Pipeline} decodes and renders each image on the {@code
 * FairThreads} and adds it to the {@code WorkQueue}. The {@code Batcher}, one thread, takes batches from the queue and
 * computes them, with explanations in between; its times are the {@code ComputeTimes} of {@code Admission}. {@code
 * ResponseJson} makes JSON of the results, {@code Json} sends it, {@code Problems} reports errors.
 *
 * <p>The server schedules; the steps from an image to its result (read, render, compute) are those of {@link
 * org.gramian.model.Classifier}.
 */
@NullMarked
package org.gramian.serve;

import org.jspecify.annotations.NullMarked;
