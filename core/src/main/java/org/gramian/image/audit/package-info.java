/**
 * The audit of a dataset: problems that would harm training.
 *
 * <p>An {@link org.gramian.image.audit.Audit} reduces every image to {@link org.gramian.image.audit.ImageFacts}, groups duplicates and
 * near-duplicates, and returns an {@link org.gramian.image.audit.AuditReport} of {@link org.gramian.image.audit.Finding}s.
 */
@NullMarked
package org.gramian.image.audit;

import org.jspecify.annotations.NullMarked;
