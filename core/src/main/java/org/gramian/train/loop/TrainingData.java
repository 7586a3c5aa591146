package org.gramian.train.loop;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import org.gramian.basis.Subsample;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.InferencePipeline;
import org.gramian.model.Model;
import org.gramian.model.UnreadableImageException;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.feature.FeatureExtraction;
import org.gramian.train.feature.FeatureTable;

/**
 * The dataset of one training run: readable images, their split and crops.
 *
 * @param given features that other machines have computed: of the training or test crops of some images, or of the first of these
 */
public record TrainingData(
        Parts parts,
        Crops trainingCrops,
        Crops testCrops,
        FeatureExtraction extraction,
        Map<String, Integer> duplicates,
        Optional<BiFunction<List<Sample>, Crops, FeatureTable>> given) {
    public TrainingData {
        duplicates = Map.copyOf(duplicates);
    }

    public record Parts(List<Sample> training, List<Sample> validation, List<Sample> test) {
        public Parts {
            training = List.copyOf(training);
            validation = List.copyOf(validation);
            test = List.copyOf(test);
            if (training.isEmpty()) {
                throw new IllegalArgumentException("expected training images, found none");
            }
        }

        long[] counts(int classes) {
            long[] counts = new long[classes];
            training.forEach(sample -> counts[sample.label()]++);
            return counts;
        }
    }

    FeatureTable features(
            String task, List<Sample> samples, Crops crops, int threads, Consumer<? super TrainEvent.Task> progress)
            throws IOException {
        if (given.isPresent()) {
            return given.get().apply(samples, crops);
        }
        FeatureTable table = extraction.table(task, samples, crops, threads, progress::accept);
        for (Map.Entry<Integer, Unreadable> problem : table.problems().entrySet()) {
            String reason =
                    "cannot be read (" + problem.getValue().reason() + "): remove it, or retry if it was being changed";
            throw new UnreadableImageException(
                    samples.get(problem.getKey()).file(),
                    new Unreadable(problem.getValue().problem(), reason));
        }
        table.upload();
        return table;
    }

    public Rendering rendering(Crops crops) {
        return new Rendering(
                new ImageReader(ImageLimits.DEFAULT)::read,
                crops,
                extraction.extractor().network().preprocessing());
    }

    /** Computes rows of validation or test images through a model, in their order. */
    void compute(
            Model model,
            List<Sample> samples,
            Engine.Rows kind,
            int threads,
            ObjIntConsumer<ImageResult.Computed> sink) {
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        List<ImageSource> sources = samples.stream()
                .map(sample -> ImageSource.of(sample, reader::read))
                .toList();
        new InferencePipeline(
                        Engine.of(model),
                        testCrops,
                        extraction.extractor().network().preprocessing(),
                        InferencePipeline.DEFAULT_BATCH,
                        threads)
                .run(sources, Set.of(kind), (index, result) -> {
                    switch (result) {
                        case ImageResult.Computed computed -> sink.accept(computed, index);
                        case ImageResult.Failed failed ->
                            throw LoadedExamples.missing(samples.get(index), failed.unreadable());
                    }
                });
    }

    /**
     * Computes descriptors of images with a trained model: one for each test crop.
     *
     * <p>Without fine-tuning they come from the features of stage 1, most of which are in the cache: the test crops of every plan are
     * among its training crops. Else the whole model computes them. The recipe alone decides, so that a run gives the same bits with
     * and without a cache.
     *
     * @param sink receives the descriptors {@code [crops][d]} of each image with its index, in their order
     */
    public void describe(
            Model model,
            boolean fineTuned,
            List<Sample> samples,
            TrainingContext context,
            ObjIntConsumer<float[][]> sink)
            throws IOException {
        String task = "descriptors of images";
        if (fineTuned) {
            compute(model, samples, Engine.Rows.DESCRIPTORS, context.threads(), (computed, index) -> {
                sink.accept(computed.of(Engine.Rows.DESCRIPTORS), index);
                context.measuring(new Task(task, index + 1L, samples.size()));
            });
            return;
        }
        try (FeatureTable table = features(task, samples, testCrops, context.threads(), context::measuring)) {
            int crops = table.crops();
            for (int i = 0; i < samples.size(); i++) {
                int[] indices = IntStream.range(i * crops, (i + 1) * crops).toArray();
                sink.accept(new HeadInference(model, table).descriptors(indices, Engine::toRows), i);
                context.measuring(new Task(task, i + 1L, samples.size()));
            }
        }
    }

    /** Returns for each sample its index, or that of the first of its near-duplicates. */
    int[] firstDuplicates(List<Sample> samples) {
        Map<Integer, Integer> first = new HashMap<>();
        int[] indices = new int[samples.size()];
        for (int i = 0; i < indices.length; i++) {
            Integer group = duplicates.get(samples.get(i).name());
            Integer before = group == null ? null : first.putIfAbsent(group, i);
            indices[i] = before == null ? i : before;
        }
        return indices;
    }

    List<Sample> some(int most) {
        return Subsample.even(parts.training, most);
    }
}
