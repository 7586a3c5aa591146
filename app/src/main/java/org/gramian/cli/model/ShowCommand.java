package org.gramian.cli.model;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TrainedModel;
import org.gramian.evaluate.Metric;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian show}: describes a model file. */
@Command(
        name = "show",
        mixinStandardHelpOptions = true,
        header = "Show the metadata of a model file.",
        description = {
            "Architecture, number of parameters, classes, preprocessing, training configuration and metrics. Reads"
                    + " only the",
            "file's header; libtorch is not needed."
        })
public final class ShowCommand implements Callable<Integer> {
    @Mixin
    private final Console console = new Console();

    @Option(names = "--all", description = "also show every value of the configuration")
    private boolean all;

    @Option(names = "--json", description = "print everything as JSON")
    private boolean json;

    @Mixin
    private final TrainedModel model = new TrainedModel();

    @Override
    public Integer call() throws IOException {
        Path file = model.file();
        ModelHeader header = ModelFile.header(file);
        if (json) {
            console.out().println(JsonText.indented(json(file, header)));
        } else {
            console.out().print(new ModelText(header, all).text());
        }
        console.out().flush();
        return ExitCode.DONE;
    }

    private Map<String, Object> json(Path file, ModelHeader header) {
        ModelCard card = header.card();
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("file", file.toString());
        object.put("backbone", header.backbone().name());
        object.put("layer", header.backbone().layer());
        object.put("pooling", header.head().pooling().text());
        object.put("normalized", header.head().normalized());
        object.put("descriptor", header.descriptorSize());
        object.put("parameters", ModelText.parameters(header));
        object.put("classes", card.classes());
        object.put("preprocessing", card.preprocessing().text());
        object.put("crops", card.crops().text());
        object.put("temperature", card.temperature());
        object.put("origin", card.origin());
        object.put("metrics", card.metrics());
        return object;
    }

    /** A model's header as one screen of text. */
    private record ModelText(ModelHeader header, boolean all) {
        private static final int WIDTH = 100;
        private static final int CLASSES_SHOWN = 50;
        private static final int ENTRIES_SHOWN = 20;
        private static final int LABEL = 15;
        private static final String CONFIG = "config.";
        private static final List<String> VERSIONS = List.of("gramian", "libtorch", "java");

        String text() {
            ModelCard card = header.card();
            StringBuilder text = new StringBuilder();
            line(
                    text,
                    "backbone",
                    header.backbone().name() + ", layer " + header.backbone().layer());
            line(text, "pooling", header.head().pooling().text());
            line(text, "descriptor", number(header.descriptorSize()) + " numbers");
            line(
                    text,
                    "scores",
                    header.head().classes() + (header.head().normalized() ? " classes, batch-normalized" : " classes"));
            line(
                    text,
                    "parameters",
                    parameters(header).entrySet().stream()
                            .map(part -> part.getKey() + " " + number(part.getValue()))
                            .collect(Collectors.joining(", ")));
            line(text, "images", card.preprocessing().text());
            int crops = card.crops().testing().count();
            line(text, "crops", card.crops().text() + (crops == 1 ? "" : ", averaged over " + crops));
            line(text, "temperature", Double.toString(card.temperature()));
            classes(text, card.classes());
            entries(
                    text,
                    "metrics",
                    card.metrics().entrySet().stream()
                            .collect(Collectors.toMap(
                                    Map.Entry::getKey,
                                    metric -> measured(metric.getKey(), metric.getValue()),
                                    (one, _) -> one,
                                    LinkedHashMap::new)));
            origin(text, card.origin());
            return text.toString();
        }

        private static String measured(String key, double value) {
            return Stream.of(Metric.values())
                    .filter(metric -> metric.key().equals(key))
                    .findFirst()
                    .map(metric -> metric.show(value) + (metric.show(1).equals("100.0") ? " %" : ""))
                    .orElseGet(() -> String.format(Locale.ROOT, "%.6g", value));
        }

        /** Versions first; the configuration, of which most are defaults, last. */
        private void origin(StringBuilder text, Map<String, String> origin) {
            Map<String, String> first = new LinkedHashMap<>();
            VERSIONS.stream().filter(origin::containsKey).forEach(key -> first.put(key, origin.getOrDefault(key, "")));
            Map<String, String> config = new LinkedHashMap<>();
            origin.forEach((key, value) -> {
                if (key.startsWith(CONFIG)) {
                    config.put(key.substring(CONFIG.length()), value);
                } else {
                    first.putIfAbsent(key, value);
                }
            });
            entries(text, "origin", first);
            if (all) {
                entries(text, "configuration", config);
            } else if (!config.isEmpty()) {
                line(text, "configuration", config.size() + " values (see --all)");
            }
        }

        /** Numbers in the parameters of each part, fixed ones included. */
        static SequencedMap<String, Long> parameters(ModelHeader header) {
            SequencedMap<String, Long> parts = new LinkedHashMap<>();
            parts.put("backbone", header.count("backbone."));
            parts.put("pooling", header.count("head.pooling."));
            parts.put("classifier", header.count("head.classifier.") + header.count("head.norm."));
            parts.put("all", header.count(""));
            return parts;
        }

        private static void classes(StringBuilder text, List<String> classes) {
            StringBuilder row = new StringBuilder();
            String label = "classes";
            int shown = Math.min(classes.size(), CLASSES_SHOWN);
            for (int i = 0; i < shown; i++) {
                String word = QuotedText.bare(classes.get(i)) + (i + 1 < classes.size() ? ", " : "");
                if (!row.isEmpty() && row.length() + word.length() > WIDTH - LABEL) {
                    line(text, label, row.toString().stripTrailing());
                    label = "";
                    row.setLength(0);
                }
                row.append(word);
            }
            int rest = classes.size() - shown;
            line(text, label, row + (rest > 0 ? "and " + rest + " more (see --json)" : ""));
        }

        private void entries(StringBuilder text, String label, Map<String, String> entries) {
            int widest =
                    entries.keySet().stream().mapToInt(String::length).max().orElse(0);
            String title = label;
            int shown = 0;
            for (Map.Entry<String, String> entry : entries.entrySet()) {
                if (!all && shown == ENTRIES_SHOWN) {
                    line(text, "", "and " + (entries.size() - shown) + " more (see --json)");
                    return;
                }
                String key = QuotedText.bare(entry.getKey());
                line(text, title, key + " ".repeat(Math.max(0, widest - key.length()) + 2) + oneLine(entry.getValue()));
                title = "";
                shown++;
            }
        }

        private static String oneLine(String value) {
            long lines = value.lines().count();
            return lines > 1 ? lines + " lines (see --json)" : QuotedText.bare(value.strip());
        }

        private static void line(StringBuilder text, String label, String value) {
            text.append(("%-" + LABEL + "s%s").formatted(label, value)).append(System.lineSeparator());
        }

        private static String number(long count) {
            return String.format(Locale.ROOT, "%,d", count);
        }
    }
}
