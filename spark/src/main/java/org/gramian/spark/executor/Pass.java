package org.gramian.spark.executor;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.ModelCard;
import org.gramian.model.PassSink;
import org.gramian.model.Scoring;
import org.jspecify.annotations.Nullable;

/**
 * Computes images of a task, in batches as the command line does; the memory of each batch is used again for the next and freed
 * at the end.
 *
 * @param model what computes
 * @param resources cores and device of the task
 * @param wanted kinds of rows
 */
record Pass(ExecutorModels.Lease model, TaskResources resources, Set<Engine.Rows> wanted) {
    /**
     * What came of images, in their order.
     *
     * @param reader gives the image of a number from 0 on; called by several threads
     */
    List<Scored> over(int images, IntFunction<ReadResult> reader) {
        resources.apply();
        ModelCard card = model.card();
        // Scoring names images by paths; those of rows are their numbers.
        List<Sample> numbered = IntStream.range(0, images)
                .mapToObj(number -> new Sample(String.valueOf(number), 0, Path.of(String.valueOf(number))))
                .toList();
        Rendering rendering = card.rendering(path -> reader.apply(Integer.parseInt(path.toString())));
        Scoring scoring = new Scoring(
                model.engine(), rendering, Prefetch.of(Scoring.batch(rendering, images), resources.cores()));
        @Nullable Scored[] results = new Scored[images];
        scoring.run(numbered, wanted, sink(results, card), _ -> {});
        return Arrays.stream(results).map(Objects::requireNonNull).toList();
    }

    private static PassSink sink(@Nullable Scored[] results, ModelCard card) {
        return new PassSink() {
            @Override
            public void rows(int sample, Map<Engine.Rows, float[][]> rows) {
                results[sample] = Scored.of(rows, card);
            }

            @Override
            public void unreadable(int sample, Unreadable problem) {
                results[sample] = Scored.of(problem, card);
            }
        };
    }
}
