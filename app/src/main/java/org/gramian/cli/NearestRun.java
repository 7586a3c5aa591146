package org.gramian.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.function.LongConsumer;
import org.gramian.basis.QuotedText;
import org.gramian.gallery.CountSketch;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Item;
import org.gramian.gallery.Neighbours;
import org.gramian.gallery.Part;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.model.RowSink;
import org.gramian.model.Scoring;

/** Goes through images, finds what each resembles, and shows it at once; counts those of which nothing can be said. */
final class NearestRun {
    private final ModelFile.Stored stored;
    private final Gallery gallery;
    private final Neighbours neighbours;
    private final CountSketch sketch;
    private final int top;
    private final Output output;
    private int failures;

    /**
     * Where results go.
     *
     * @param lines in some format
     * @param console told of every image of which nothing can be said
     */
    record Output(NearestLines lines, Console console) {}

    NearestRun(ModelFile.Stored stored, Gallery gallery, int top, Output output) {
        this.stored = stored;
        this.gallery = gallery;
        this.neighbours = Neighbours.of(gallery, Part.TRAINING);
        this.sketch = CountSketch.of(gallery.descriptorSize());
        this.top = top;
        this.output = output;
        output.lines.begin();
    }

    /** Images of which nothing could be said, so far. */
    int failures() {
        return failures;
    }

    /** Finds what files resemble, in their order. */
    void find(List<Path> files, LongConsumer progress) {
        List<Sample> samples =
                files.stream().map(path -> new Sample(path.toString(), 0, path)).toList();
        Scoring.ofFiles(Engine.of(stored.model()), stored.card(), files.size())
                .run(samples, Engine.Rows.DESCRIPTORS, sink(samples), progress);
    }

    private RowSink sink(List<Sample> samples) {
        return new RowSink() {
            @Override
            public void rows(int sample, float[][] crops) {
                String name = samples.get(sample).name();
                try {
                    output.lines.found(name, nearest(sketch.describe(crops)));
                    OutputCheck.require(output.console.out());
                } catch (IllegalArgumentException notFinite) {
                    failed(name, String.valueOf(notFinite.getMessage()));
                }
            }

            @Override
            public void unreadable(int sample, Unreadable problem) {
                failed(samples.get(sample).name(), problem.reason());
            }
        };
    }

    private List<NearestLines.Resembled> nearest(float[] vector) {
        return neighbours.nearest(vector, top).stream()
                .map(one -> {
                    Item item = gallery.items().get(one.index());
                    return new NearestLines.Resembled(
                            item.name(), gallery.classes().get(item.label()), one.distance());
                })
                .toList();
    }

    private void failed(String image, String reason) {
        failures++;
        output.lines.failed(image, reason);
        output.console.complaints().accept(QuotedText.visible(image + ": " + reason));
        OutputCheck.require(output.console.out());
    }
}
