/**
 * Distillation of the backbone {@code gramian-s} that ships with Gramian: a {@link org.gramian.research.Student} learns feature maps,
 * Gram matrices and class scores of frozen teachers on images without labels, in the training loop of the core module ({@link
 * org.gramian.train.loop.Fit}). {@code scripts/backbone/make-gramian-s} runs it.
 */
@NullMarked
package org.gramian.research;

import org.jspecify.annotations.NullMarked;
