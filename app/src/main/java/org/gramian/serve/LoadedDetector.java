package org.gramian.serve;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import org.gramian.export.OpenDetector;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.model.Engine;

/** A served detector of anomalies. */
record LoadedDetector(String name, OpenDetector opened, Drift recent) implements ServedModel {
    /** An image, resized unless it is cut into tiles, with its own size. */
    record Reduced(Image image, int width, int height, int crops) implements Input {}

    static LoadedDetector of(String name, OpenDetector opened, OptionalDouble falseAlarms) {
        return new LoadedDetector(
                name,
                falseAlarms.isPresent() ? opened.withFalseAlarms(falseAlarms.getAsDouble()) : opened,
                new Drift(opened.card().calibration().size()));
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
    public Optional<String> incompatibility() {
        return Optional.empty();
    }

    @Override
    public Optional<Drift> drift() {
        return Optional.of(recent);
    }

    @Override
    public void release() {
        opened.close();
    }
}
