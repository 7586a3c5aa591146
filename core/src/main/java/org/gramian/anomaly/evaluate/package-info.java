/** Evaluation of detectors on labelled images. */
@NullMarked
package org.gramian.anomaly.evaluate;

import org.jspecify.annotations.NullMarked;
