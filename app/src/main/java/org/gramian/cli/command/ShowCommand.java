package org.gramian.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.anomaly.Detector;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TrainedModel;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;
import org.gramian.report.Figures;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian show}: describes a model file. */
@Command(name = "show", header = "Show the metadata of a model file.", description = """
                Architecture, number of parameters, classes, preprocessing, training configuration and metrics. Reads only the
                file's header; libtorch is not needed.""")
public final class ShowCommand extends ConsoleCommand {
    @Option(names = "--all", description = "also show every value of the configuration")
    private boolean all;

    @Option(names = "--json", description = "print everything as JSON")
    private boolean json;

    @Mixin
    private final TrainedModel model = new TrainedModel();

    @Override
    public Integer call() throws IOException {
        Path file = model.file();
        if (Detector.isDetector(file)) {
            return DetectorCommands.show(file, console, json);
        }
        ModelHeader header = ModelFile.header(file);
        if (json) {
            console.out().println(JsonText.indented(content(file, header)));
        } else {
            console.print(new ModelText(header, all, new StringBuilder()).format());
        }
        return ExitCode.DONE;
    }

    private static Map<String, Object> content(Path file, ModelHeader header) {
        ModelCard card = header.card();
        Map<String, Object> content = new LinkedHashMap<>();
        content.put("file", file.toString());
        content.put("backbone", header.backbone().name());
        content.put("layer", header.backbone().layer());
        content.put("pooling", header.head().pooling().text());
        content.put("normalized", header.head().normalized());
        content.put("descriptor", header.descriptorSize());
        content.put("parameters", ModelText.parameters(header));
        content.put("classes", card.classes());
        content.put("preprocessing", card.preprocessing().text());
        content.put("crops", card.crops().text());
        content.put("temperature", card.temperature());
        content.put("origin", card.origin());
        content.put("metrics", card.metrics());
        card.openSet()
                .ifPresent(openSet -> content.put(
                        "unknown",
                        JsonText.object(
                                "rate",
                                openSet.rate(),
                                "images",
                                openSet.scores().size())));
        return content;
    }

    private record ModelText(ModelHeader header, boolean all, StringBuilder text) {
        private static final int SHOWN = 50;
        private static final String CONFIG = "config.";

        String format() {
            ModelCard card = header.card();
            line(
                    "backbone",
                    header.backbone().name() + ", layer " + header.backbone().layer());
            line("pooling", header.head().pooling().text());
            line("descriptor", Figures.count(header.descriptorSize()) + " numbers");
            line(
                    "scores",
                    header.head().classes() + (header.head().normalized() ? " classes, batch-normalized" : " classes"));
            line(
                    "parameters",
                    parameters(header).entrySet().stream()
                            .map(part -> part.getKey() + " " + Figures.count(part.getValue()))
                            .collect(Collectors.joining(", ")));
            line("preprocessing", card.preprocessing().text());
            int crops = card.crops().testing().count();
            line("crops", card.crops().text() + (crops == 1 ? "" : ", averaged over " + crops));
            line("temperature", Double.toString(card.temperature()));
            int rest = card.classes().size() - SHOWN;
            line(
                    "classes",
                    card.classes().stream().limit(SHOWN).map(QuotedText::bare).collect(Collectors.joining(", "))
                            + (rest > 0 ? " and " + rest + " more (see --json)" : ""));
            line(
                    "unknown images",
                    card.openSet()
                            .map(openSet -> String.format(Locale.ROOT, "p-value at most %.2g, from ", openSet.rate())
                                    + openSet.scores().size() + " images" + (openSet.isPossible() ? "" : ": too few"))
                            .orElse("none: the model classifies every image"));
            card.metrics()
                    .forEach((key, value) -> line(metric(key).map(Metric::text).orElse(key), measured(key, value)));
            card.origin().forEach((key, value) -> {
                if (!key.startsWith(CONFIG)) {
                    line(key, value);
                }
            });
            if (!all) {
                line("", "see --all for the configuration");
                return text.toString();
            }
            card.origin().forEach((key, value) -> {
                if (key.startsWith(CONFIG)) {
                    line(key.substring(CONFIG.length()), value);
                }
            });
            return text.toString();
        }

        private static Optional<Metric> metric(String key) {
            return Stream.of(Metric.values())
                    .filter(metric -> metric.key().equals(key))
                    .findFirst();
        }

        private static String measured(String key, double value) {
            return metric(key)
                    .map(metric -> metric.show(value) + (metric.show(1).equals("100.0") ? " %" : ""))
                    .orElseGet(() -> Figures.percent(value) + " %");
        }

        /** Returns the numbers in the parameters of each part, fixed ones included. */
        static SequencedMap<String, Long> parameters(ModelHeader header) {
            SequencedMap<String, Long> parts = new LinkedHashMap<>();
            parts.put("backbone", header.count("backbone."));
            parts.put("pooling", header.count("head.pooling."));
            parts.put("classifier", header.count("head.classifier.") + header.count("head.norm."));
            parts.put("unknown images", header.count("known."));
            parts.put("all", header.count(""));
            return parts;
        }

        private void line(String label, String value) {
            long lines = value.lines().count();
            String shown = lines > 1 ? lines + " lines (see --json)" : QuotedText.visible(value.strip());
            text.append("%-25s %s%n".formatted(QuotedText.visible(label), shown));
        }
    }
}
