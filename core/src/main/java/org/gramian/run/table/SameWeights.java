package org.gramian.run.table;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.model.ModelFile;
import org.gramian.run.FoldResult;
import org.gramian.run.config.NetworkConfig;

/** Makes sure that rows on one network stand on the same weights of it: their files may have changed between two rows. */
final class SameWeights {
    private record Seen(String fingerprint, TableEntry entry) {}

    private SameWeights() {}

    /** @throws IOException naming two finished rows that do not */
    static void require(List<TableEntry> entries) throws IOException {
        Map<String, Seen> byNetwork = new HashMap<>();
        for (TableEntry entry : entries) {
            if (entry.outcome() instanceof RowOutcome.Finished finished
                    && entry.work().isPresent()) {
                String network = network(entry.work().get());
                for (FoldResult fold : finished.folds()) {
                    Seen found = new Seen(fingerprint(fold), entry);
                    Seen first = byNetwork.putIfAbsent(network, found);
                    if (first != null && !first.fingerprint.equals(found.fingerprint)) {
                        throw new IOException(
                                "expected all rows on the same weights of " + network + ", found "
                                        + first.entry.folder() + " and " + entry.folder()
                                        + " on different ones; use another table folder, or remove the rows with the old weights");
                    }
                }
            }
        }
    }

    private static String network(TableEntry.Work work) {
        NetworkConfig network = work.plan().config().network();
        return network.backbone() + network.weights().map(name -> ", " + name).orElse("");
    }

    private static String fingerprint(FoldResult fold) throws IOException {
        return Optional.ofNullable(
                        ModelFile.header(fold.model()).card().origin().get("weights"))
                .orElse("none");
    }
}
