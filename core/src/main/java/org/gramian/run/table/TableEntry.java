package org.gramian.run.table;

import java.nio.file.Path;
import java.util.Optional;
import org.gramian.run.RunPlan;
import org.gramian.run.plan.Workload;

/**
 * One row on one dataset: an ordinary run.
 *
 * @param data the dataset
 * @param row the row
 * @param title of the row on the backbone in use
 * @param folder of the run
 * @param work the plan; empty if planning failed
 * @param outcome its state
 */
public record TableEntry(
        TableData data, TableRow row, String title, Path folder, Optional<Work> work, RowOutcome outcome) {
    /**
     * A planned run.
     *
     * @param plan its settings and folds
     * @param load its workload
     */
    public record Work(RunPlan plan, Workload load) {}

    TableEntry with(RowOutcome other) {
        return new TableEntry(data, row, title, folder, work, other);
    }
}
