package org.gramian.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageSource;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.LoadRequest;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.ImageResult;
import org.gramian.model.InferencePipeline;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;

/**
 * Scores of images in batches of {@value InferencePipeline#DEFAULT_BATCH}, as {@code gramian predict} computes them: from files,
 * or from crops in memory. The ratio of both rates shows the cost of decoding.
 */
final class PredictionTask implements Task {
    /** Name of the task with crops in memory. */
    static final String IN_MEMORY = "prediction-in-memory";

    private static final int BATCH = InferencePipeline.DEFAULT_BATCH;

    private final SyntheticImageFolder images;
    private final Model model;
    private final Engine engine;
    private final Rendering rendering;
    private final InferencePipeline pipeline;
    private final Arena arena = Arena.ofShared();
    private final Optional<MemorySegment> crops;
    private double sum;

    PredictionTask(TaskSpec spec) {
        this.model = model(spec);
        this.images = new SyntheticImageFolder(spec.number("batch"));
        this.engine = Engine.of(model);
        this.rendering = new Rendering(
                new ImageReader(ImageLimits.DEFAULT)::read,
                CropPlan.parse("center").withSize(spec.number("pixels")).testing(),
                model.backbone().preprocessing());
        this.pipeline = new InferencePipeline(
                engine,
                rendering.crops(),
                rendering.preprocessing(),
                BATCH,
                Runtime.getRuntime().availableProcessors());
        this.crops = spec.name().equals(IN_MEMORY) ? Optional.of(loaded()) : Optional.empty();
    }

    private static Model model(TaskSpec spec) {
        Backbone backbone = spec.backbone();
        Head head = new Head(Pooling.parse(spec.text("pooling")), spec.number("classes"), false);
        Device device = spec.device();
        return new Model(
                backbone,
                parameters(SyntheticValues.parameters(Optional.of(backbone), Optional.empty(), 0), device),
                head,
                parameters(
                        SyntheticValues.parameters(Optional.empty(), Optional.of(head), (int) backbone.channels()),
                        device),
                device);
    }

    private static ParameterSet parameters(List<ParameterSpec> specs, Device device) {
        return ParameterSet.initialize(specs, new SplittableRandom(0), DType.F32, device);
    }

    /** Loads all crops, padded with zeros to whole batches as by the loader. */
    private MemorySegment loaded() {
        long bytes = BATCH * rendering.bytes();
        long batches = Math.ceilDiv(images.samples().size(), BATCH);
        MemorySegment all = arena.allocate(batches * bytes, 64);
        List<LoadRequest> list = LoadRequest.all(images.samples(), rendering.crops());
        try (BatchLoader loader = new BatchLoader(rendering, list, Prefetch.of(BATCH))) {
            for (long i = 0; i < batches; i++) {
                try (Batch batch = loader.next()) {
                    all.asSlice(i * bytes, bytes).copyFrom(batch.memory());
                }
            }
        }
        return all;
    }

    @Override
    public SequencedMap<String, Double> check() {
        run();
        SequencedMap<String, Double> values = new LinkedHashMap<>();
        values.put("|scores|", sum);
        return values;
    }

    @Override
    public void run() {
        sum = 0;
        if (crops.isPresent()) {
            fromMemory(crops.get());
        } else {
            pipeline.run(sources(), Set.of(Engine.Rows.SCORES), (_, result) -> {
                switch (result) {
                    case ImageResult.Computed computed -> add(computed.of(Engine.Rows.SCORES)[0]);
                    case ImageResult.Failed failed -> throw new IllegalStateException(failed.reason());
                }
            });
        }
    }

    private List<ImageSource> sources() {
        return images.samples().stream()
                .map(sample -> ImageSource.of(sample, rendering.reader()))
                .toList();
    }

    private void fromMemory(MemorySegment all) {
        int size = rendering.crops().size();
        long bytes = BATCH * rendering.bytes();
        Shape shape = Shape.of(BATCH, 3, size, size);
        int count = images.samples().size();
        for (int start = 0; start < count; start += BATCH) {
            float[][] rows = engine.compute(all.asSlice(start / BATCH * bytes, bytes), shape, Engine.Rows.SCORES);
            for (int i = 0; i < Math.min(BATCH, count - start); i++) {
                add(rows[i]);
            }
        }
    }

    private void add(float[] row) {
        for (float score : row) {
            sum += Math.abs(score);
        }
    }

    @Override
    public void close() {
        model.close();
        arena.close();
        images.close();
    }
}
