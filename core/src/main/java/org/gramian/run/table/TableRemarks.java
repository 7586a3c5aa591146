package org.gramian.run.table;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.pooling.Pooling;
import org.gramian.run.config.NetworkConfig;
import org.gramian.run.config.Setting;

/** Notes on the rows of a table that are needed to read its numbers, each once for all rows that it applies to. */
final class TableRemarks {
    private TableRemarks() {}

    /** @param baseline name of the row that the others are tested against */
    static List<String> of(TablePlan plan, String baseline, List<TableEntry> entries) {
        List<String> remarks = new ArrayList<>();
        List<TableEntry> planned =
                entries.stream().filter(entry -> entry.work().isPresent()).toList();
        refused(plan, planned, remarks);
        random(planned, remarks);
        untested(baseline, entries, remarks);
        return remarks;
    }

    private static void refused(TablePlan plan, List<TableEntry> entries, List<String> remarks) {
        Set<String> keys = new LinkedHashSet<>();
        Set<String> titles = new LinkedHashSet<>();
        for (TableEntry entry : entries) {
            List<Setting> refused = new RowClassifier(entry.row(), plan.common()).refused();
            refused.forEach(setting -> keys.add(setting.key() + "=" + setting.text()));
            if (!refused.isEmpty()) {
                titles.add(entry.title());
            }
        }
        if (!keys.isEmpty()) {
            remarks.add(String.join(" and ", keys) + " has no effect on " + String.join("; ", titles)
                    + ": that classifier is solved in closed form");
        }
    }

    private static void random(List<TableEntry> entries, List<String> remarks) {
        Set<String> titles = entries.stream()
                .filter(TableRemarks::isRandom)
                .map(TableEntry::title)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        if (!titles.isEmpty()) {
            remarks.add("the pooling has trainable parameters, which a closed-form classifier leaves at their random"
                    + " initialization: " + String.join("; ", titles));
        }
    }

    private static boolean isRandom(TableEntry entry) {
        var config = entry.work().orElseThrow().plan().config();
        NetworkConfig network = config.network();
        Pooling pooling = network.pooling().settled(network.backbone(), Integer.MAX_VALUE);
        return config.recipe().solver().isPresent()
                && pooling.parameters(network.backbone().channels()).stream()
                        .anyMatch(spec -> spec.role() != ParameterSpec.Role.FITTED
                                && !pooling.pretrained().containsKey(spec.name()));
    }

    /** Notes results without a finished baseline. */
    private static void untested(String baseline, List<TableEntry> entries, List<String> remarks) {
        for (TableEntry base : entries) {
            boolean others = entries.stream()
                    .anyMatch(other ->
                            other.data().equals(base.data()) && other.outcome() instanceof RowOutcome.Finished);
            if (base.row().name().equals(baseline) && !(base.outcome() instanceof RowOutcome.Finished) && others) {
                remarks.add("no differences and no p on " + base.data().name() + ": the baseline " + base.title()
                        + " is not trained");
            }
        }
    }
}
