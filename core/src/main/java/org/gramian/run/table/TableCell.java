package org.gramian.run.table;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.run.plan.Workload;

/**
 * Results of one row on one dataset.
 *
 * @param numbers accuracy, if the row is finished
 * @param outcome state of the row
 * @param size size of the head, if it could be planned
 * @param secondsPerEpoch time per epoch of stage 1, if measured
 * @param published accuracy in the paper, with VGG-16
 * @param own settings by key in which it differs from other rows on this dataset
 */
public record TableCell(
        Optional<Numbers> numbers,
        RowOutcome outcome,
        Optional<Size> size,
        OptionalDouble secondsPerEpoch,
        Optional<String> published,
        Map<String, String> own) {
    public TableCell {
        own = Collections.unmodifiableMap(new LinkedHashMap<>(own));
    }

    /**
     * Accuracy and paired test.
     *
     * @param accuracy over the folds, at the end of training
     * @param afterFirst accuracy after stage 1, if fine-tuning followed
     * @param against paired test of this row against the baseline; empty for the baseline itself and while it is not finished
     * @param best whether no finished row on this dataset has a higher mean
     */
    public record Numbers(Spread accuracy, Optional<Spread> afterFirst, Optional<Comparison> against, boolean best) {}

    /**
     * Size of the head.
     *
     * @param descriptor length of the descriptor
     * @param parameters number of trained parameters of pooling and classifier
     */
    public record Size(long descriptor, long parameters) {
        /** Returns the size of a plan. */
        public static Size of(Workload load) {
            return new Size(load.descriptorSize(), load.trainedParameters());
        }
    }
}
