package org.gramian.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.image.ImageLimits;
import org.gramian.image.ImageReader;
import org.gramian.image.batch.Batch;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.LoadRequest;
import org.gramian.image.batch.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.crop.Preprocessing;

/** Loading of JPEG files of 512×384: decoded, resized to a short side of 256, centre crop. */
final class ImagesTask implements Task {
    /** Images per second that the loader must reach with two threads. */
    static final int REQUIRED = 150;

    private final SyntheticImageFolder images;
    private final List<LoadRequest> list;
    private final Rendering rendering;
    private final Prefetch prefetch;

    ImagesTask(TaskSpec spec) {
        Crops crops = CropPlan.parse("center").withSize(spec.number("pixels")).testing();
        this.prefetch = new Prefetch(16, spec.number("threads"), 3);
        this.rendering = new Rendering(new ImageReader(ImageLimits.DEFAULT)::read, crops, Preprocessing.TORCHVISION);
        this.images = new SyntheticImageFolder(spec.number("batch"));
        this.list = LoadRequest.all(images.samples(), crops);
    }

    @Override
    public SequencedMap<String, Double> check() {
        SequencedMap<String, Double> numbers = new LinkedHashMap<>();
        numbers.put("images", (double) load());
        return numbers;
    }

    @Override
    public void run() {
        if (load() != list.size()) {
            throw new IllegalStateException("not all images could be read");
        }
    }

    /** Loads all images and returns the number of readable ones. */
    private long load() {
        long loaded = 0;
        try (BatchLoader loader = new BatchLoader(rendering, list, prefetch)) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    loaded += batch.slots().stream()
                            .filter(slot -> slot.problem().isEmpty())
                            .count();
                }
            }
        }
        return loaded;
    }

    @Override
    public void close() {
        images.close();
    }
}
