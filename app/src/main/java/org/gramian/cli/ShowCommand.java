package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.gramian.basis.JsonText;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.model.ModelHeader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian show}: what a model file says of itself. */
@Command(
        name = "show",
        mixinStandardHelpOptions = true,
        header = "Show the metadata of a model file.",
        description = {
            "Architecture, number of parameters, classes, preprocessing, training configuration and metrics. Reads only the",
            "file's header; libtorch is not needed."
        })
final class ShowCommand implements Callable<Integer> {
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
        return Main.DONE;
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
}
