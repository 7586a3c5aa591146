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
 * @param title of the row on the network that is used
 * @param folder of the run
 * @param work what is to be done; nothing where it cannot even be planned
 * @param outcome what became of it so far
 */
public record TableEntry(
        TableData data, TableRow row, String title, Path folder, Optional<Work> work, RowOutcome outcome) {
    /**
     * What is to be done.
     *
     * @param plan who trains and who tests
     * @param load how much it is
     */
    public record Work(RunPlan plan, Workload load) {}

    TableEntry with(RowOutcome other) {
        return new TableEntry(data, row, title, folder, work, other);
    }
}
