/**
 * Entry points of the library: {@link org.gramian.Trainer} trains a classifier on labelled images, {@link
 * org.gramian.model.Classifier} classifies images with a trained model.
 */
@NullMarked
package org.gramian;

import org.jspecify.annotations.NullMarked;
