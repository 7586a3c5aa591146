/**
 * Distillation: trains a small backbone, the student, on unlabelled images to reproduce the feature maps, Gram matrices and class
 * scores of frozen backbones, its teachers.
 *
 * <p>{@link org.gramian.train.distill.Distillation} is the whole run: it decodes the images once, trains with {@link
 * org.gramian.train.distill.MatchingLosses}, writes checkpoints and the weight file of the student.
 */
@NullMarked
package org.gramian.train.distill;

import org.jspecify.annotations.NullMarked;
