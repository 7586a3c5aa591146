package org.gramian.serve;

import org.gramian.model.ModelHeader;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What a server tells of its model. */
final class ModelDescription {
    private ModelDescription() {}

    static ObjectNode of(LoadedModel model) {
        ModelHeader header = model.header();
        ObjectNode document = Json.object().put("name", model.name());
        ArrayNode classes = document.putArray("classes");
        header.card().classes().forEach(classes::add);
        document.put("backbone", header.backbone().name())
                .put("layer", header.backbone().layer())
                .put("pooling", header.head().pooling().text())
                .put("engine", model.opened().engineName())
                .put("descriptorSize", header.descriptorSize())
                .put("parameters", header.count(""));
        ObjectNode metrics = document.putObject("metrics");
        header.card().metrics().forEach((name, value) -> metrics.put(name, value));
        return document.put("gallery", model.nearest().isPresent())
                .put("explain", model.explained().isPresent());
    }
}
