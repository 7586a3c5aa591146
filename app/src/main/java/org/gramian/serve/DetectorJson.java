package org.gramian.serve;

import java.util.Locale;
import org.gramian.anomaly.AnomalyMap;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.Inspection;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** JSON of a detector of anomalies and of the drift of images. */
final class DetectorJson {
    private DetectorJson() {}

    static ObjectNode model(LoadedDetector model) {
        DetectorCard card = model.opened().card();
        ObjectNode document = Api.object()
                .put("name", model.name())
                .put("kind", "detector")
                .put("backbone", model.opened().backbone())
                .put(
                        "detector",
                        model.opened().kind().toLowerCase(Locale.ROOT) + (card.wholeScale() > 0 ? "+mean" : ""))
                .put("engine", model.opened().engineName())
                .put("width", card.width())
                .put("height", card.height())
                .put("tile", card.tile())
                .put("goodImages", card.calibration().size())
                .put("falseAlarms", card.falseAlarms());
        putFinite(document, "threshold", card.threshold());
        ObjectNode metrics = document.putObject("metrics");
        card.metrics().forEach((name, value) -> metrics.put(name, value));
        return document.put("explain", true);
    }

    static ObjectNode inspection(ObjectNode result, LoadedDetector model, Inspection found) {
        result.put("anomalous", found.isAnomalous()).put("score", found.score()).put("p_value", found.pValue());
        putFinite(result, "threshold", model.opened().card().threshold());
        ArrayNode regions = result.putArray("regions");
        for (AnomalyMap.Region region : found.regions()) {
            regions.addPOJO(region);
        }
        return result;
    }

    static ObjectNode drift(Drift.State state) {
        ObjectNode document = Api.object().put("images", state.images()).put("detected", state.isDrift());
        putFinite(document, "distance", state.distance());
        return document.put("limit", state.limit()).put("level", Drift.LEVEL);
    }

    /** Puts a number, or null for one that JSON does not have. */
    private static void putFinite(ObjectNode document, String name, double value) {
        if (Double.isFinite(value)) {
            document.put(name, value);
        } else {
            document.putNull(name);
        }
    }
}
