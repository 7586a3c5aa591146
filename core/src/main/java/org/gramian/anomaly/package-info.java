/**
 * Anomaly detection: training on good images only, a threshold with a stated rate of false alarms, maps of where an image differs.
 *
 * <p>{@link org.gramian.anomaly.DetectorTraining} trains a {@link org.gramian.anomaly.Detector}; {@link
 * org.gramian.anomaly.PatchModel} holds the formulas.
 */
@NullMarked
package org.gramian.anomaly;

import org.jspecify.annotations.NullMarked;
