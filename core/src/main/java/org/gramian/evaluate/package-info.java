/** From predictions to metrics: test images, accuracy with confidence intervals, confusion matrix, calibration, comparison. */
@NullMarked
package org.gramian.evaluate;

import org.jspecify.annotations.NullMarked;
