package org.gramian.serve;

import java.util.Locale;
import org.gramian.anomaly.DetectorCard;
import org.gramian.report.DetectorMeasures;
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
                .put("falseAlarms", card.falseAlarms())
                .put("threshold", DetectorMeasures.finite(card.threshold()));
        ObjectNode metrics = document.putObject("metrics");
        card.metrics().forEach((name, value) -> metrics.put(name, value));
        return document.put("explain", true);
    }

    static ObjectNode drift(Drift.State state) {
        return Api.object()
                .put("images", state.images())
                .put("detected", state.isDrift())
                .put("distance", DetectorMeasures.finite(state.distance()))
                .put("limit", state.limit())
                .put("level", Drift.LEVEL);
    }
}
