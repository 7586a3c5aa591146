package org.gramian.run.table;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.Spread;
import org.gramian.run.plan.Workload;

/**
 * What a table knows of one row on one dataset.
 *
 * @param numbers how good it is, if it is finished
 * @param outcome what became of it
 * @param size of what was trained, if it could be planned
 * @param secondsPerEpoch of stage 1, if they were measured
 * @param published what the paper reports for this row on this dataset, with VGG-16
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
     * How good it is.
     *
     * @param accuracy over the folds, at the end of training
     * @param afterFirst the same after stage 1, where a second one followed
     * @param against this row as the first, the baseline as the second; nothing for the baseline itself, and while the baseline
     *     is not finished
     * @param best whether no finished row on this dataset has a higher mean
     */
    public record Numbers(Spread accuracy, Optional<Spread> afterFirst, Optional<Comparison> against, boolean best) {}

    /**
     * How large it is.
     *
     * @param descriptor length of the descriptor
     * @param parameters numbers of pooling and classifier that are learned
     */
    public record Size(long descriptor, long parameters) {
        /** Of what is to be done. */
        public static Size of(Workload load) {
            return new Size(load.descriptorSize(), load.trainedParameters());
        }
    }
}
