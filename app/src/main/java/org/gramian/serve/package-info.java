/**
 * HTTP server of a model: {@code ./gramian serve MODEL}.
 *
 * <p>Path of a request: {@link org.gramian.serve.Server} listens; {@code RequestGuard} checks host, origin, token and method;
 * {@code Api} enters {@code Admission}, which refuses what exceeds the capacity (HTTP 429), and leases the model from the {@code
 * ModelSlot}; {@code RequestBody} reads the images; {@code Batcher} decodes them and computes them in batches; {@code
 * Api} sends the results, {@code HttpError} errors. {@code ModelSlot} replaces the model when its files change.
 */
@NullMarked
package org.gramian.serve;

import org.jspecify.annotations.NullMarked;
