package org.gramian.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import org.gramian.anomaly.DetectorCard;
import org.gramian.export.OpenDetector;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.model.Engine;
import org.gramian.report.DetectorMeasures;
import tools.jackson.databind.node.ObjectNode;

/** A served detector of anomalies. */
record LoadedDetector(String name, OpenDetector opened, Optional<Drift> recent) implements ServedModel {
    /** An image, resized unless it is cut into tiles, with its own size. */
    record Reduced(Image image, int width, int height, int crops) implements Input {}

    static LoadedDetector of(String name, OpenDetector opened, OptionalDouble falseAlarms) {
        return new LoadedDetector(
                name,
                falseAlarms.isPresent() ? opened.withFalseAlarms(falseAlarms.getAsDouble()) : opened,
                Optional.of(new Drift(opened.card().calibration().size())));
    }

    @Override
    public ReadResult read(ImageSource source) {
        return source.reader().get();
    }

    /** Counts the memory of an image that is kept whole for its tiles. */
    @Override
    public Input prepare(Image image, Batcher.Job job) throws HttpError {
        int tile = opened.card().tile();
        if (tile > 0) {
            job.ticket().bytes(image.rgb().length);
        }
        int tiles = tile == 0 ? 1 : Math.ceilDiv(image.width(), tile) * Math.ceilDiv(image.height(), tile);
        return new Reduced(opened.detector().reduced(image), image.width(), image.height(), tiles);
    }

    @Override
    public List<Batcher.Outcome> compute(List<Input> batch, Set<Engine.Rows> rows) {
        List<Batcher.Outcome> outcomes = new ArrayList<>();
        for (Input input : batch) {
            Reduced reduced = (Reduced) input;
            outcomes.add(
                    new Batcher.Inspected(opened.detector().inspect(reduced.image, reduced.width, reduced.height)));
        }
        return outcomes;
    }

    @Override
    public ObjectNode describe() {
        DetectorCard card = opened.card();
        ObjectNode document = Api.object()
                .put("name", name)
                .put("kind", "detector")
                .put("backbone", opened.backbone())
                .put("detector", opened.kind().toLowerCase(Locale.ROOT) + (card.wholeScale() > 0 ? "+mean" : ""))
                .put("engine", opened.engineName())
                .put("width", card.width())
                .put("height", card.height())
                .put("tile", card.tile())
                .put("goodImages", card.calibration().size())
                .put("falseAlarms", card.falseAlarms())
                .put("threshold", DetectorMeasures.finite(card.threshold()))
                .putPOJO("metrics", card.metrics())
                .put("explain", true);
        recent.ifPresent(drift -> drift.state().describe(document));
        return document;
    }

    @Override
    public void release() {
        opened.close();
    }
}
