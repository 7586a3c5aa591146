/**
 * Entry points of the library: {@link org.gramian.Trainer} trains a classifier on labelled images, {@link
 * org.gramian.model.Classifier} classifies images with a trained model, {@link org.gramian.Evaluator} measures it, {@link
 * org.gramian.Explainer} explains it, {@link org.gramian.DetectorTrainer} trains a detector on good images, and {@link org.gramian.Audit}
 * checks a dataset.
 */
@NullMarked
package org.gramian;

import org.jspecify.annotations.NullMarked;
