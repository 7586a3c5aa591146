package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.PublicFile;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights.Provenance;
import org.gramian.basis.JsonText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian weights list}: what is installed, and what can be had. */
@Command(name = "list", mixinStandardHelpOptions = true, header = "List installed and downloadable weights.")
final class WeightsListCommand implements Callable<Integer> {
    private static final double MEBIBYTE = 1 << 20;

    @Mixin
    private final Console console = new Console();

    @Mixin
    private final WeightsOptions weights = new WeightsOptions();

    @Option(names = "--json", description = "print JSON")
    private boolean json;

    /** One line of the list; {@code mebibytes} is 0 if unknown. */
    private record Row(String name, String state, double mebibytes, String licence, String source) {}

    @Override
    public Integer call() throws IOException {
        WeightStore store = weights.store();
        List<Row> rows = new ArrayList<>();
        for (String name : names(store)) {
            rows.add(row(store, WeightName.parse(name)));
        }
        if (json) {
            Map<String, Object> content = new LinkedHashMap<>();
            content.put("folder", store.folder().toString());
            content.put("weights", rows);
            console.out().println(JsonText.indented(content));
            return Main.DONE;
        }
        console.out().println("folder: " + store.folder());
        console.out().printf("%-20s %-12s %9s  %s%n", "name", "state", "MiB", "source; licence");
        for (Row row : rows) {
            String size = row.mebibytes == 0 ? "" : String.format(Locale.ROOT, "%.1f", row.mebibytes);
            console.out().printf("%-20s %-12s %9s  %s; %s%n", row.name, row.state, size, row.source, row.licence);
        }
        return Main.DONE;
    }

    private static Set<String> names(WeightStore store) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        for (String architecture : WeightName.architectures()) {
            Stream.concat(
                            Stream.of(architecture),
                            Stream.concat(
                                            PublicFile.all().stream().map(PublicFile::name),
                                            store.names().stream().map(WeightName::text))
                                    .filter(name -> WeightName.parse(name)
                                            .architecture()
                                            .equals(architecture))
                                    .sorted())
                    .forEach(names::add);
        }
        return names;
    }

    private static Row row(WeightStore store, WeightName name) throws IOException {
        Backbone backbone = Backbone.of(name.architecture());
        if (!store.holds(name)) {
            String licence = backbone.about().weights().licence();
            return PublicFile.of(name.text())
                    .map(file -> new Row(
                            name.text(), "get", file.mebibytes(), file.licence(), file.about() + ", " + file.file()))
                    .orElseGet(() ->
                            new Row(name.text(), "import", 0, licence, WeightStore.importable(name.architecture())));
        }
        double size = Files.size(store.file(name)) / MEBIBYTE;
        try {
            Provenance noted = store.provenance(name);
            return new Row(name.text(), "installed", size, noted.licence(), noted.source());
        } catch (IOException e) {
            return new Row(name.text(), "damaged", size, "unknown", String.valueOf(e.getMessage()));
        }
    }
}
