package org.gramian.image.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Crops;
import org.gramian.image.crop.Preprocessing;
import org.junit.jupiter.api.Test;

/** A simulated folder of many images goes through in the memory of a few batches. */
class LongFolderTest {
    private static final int IMAGES = Boolean.getBoolean("gramian.full") ? 100_000 : 20_000;
    private static final Prefetch PREFETCH = new Prefetch(64, 4, 3);
    private static final long MEGABYTE = 1 << 20;

    /** Used heap once garbage is gone. */
    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @Test
    void memoryIsBoundedByPrefetchedBatches() {
        Crops crops = CropPlan.parse("paper:7").testing();
        List<LoadRequest> list = LoadRequest.all(Images.samples(IMAGES), crops);
        AtomicLong read = new AtomicLong();
        AtomicLong used = new AtomicLong();
        AtomicLong lead = new AtomicLong();
        Function<Path, ReadResult> reader = file -> {
            lead.accumulateAndGet(read.incrementAndGet() * crops.count() - used.get(), Math::max);
            return Images.read(file);
        };
        long before = heap();
        long most = 0;
        try (BatchLoader loader = new BatchLoader(new Rendering(reader, crops, Preprocessing.CAFFE), list, PREFETCH)) {
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    long done = used.addAndGet(batch.slots().size());
                    if (done % (1000L * PREFETCH.batch()) == 0) {
                        most = Math.max(most, heap());
                    }
                }
            }
        }
        assertThat(used.get()).isEqualTo((long) IMAGES * crops.count());
        // Crops in batches ahead, one image in the hands of each of two threads, and the batch whose use is not
        // counted yet.
        long bound = (long) (PREFETCH.ahead() + 1) * PREFETCH.batch() + 2L * PREFETCH.threads() * crops.count();
        assertThat(lead.get()).isBetween(1L, bound);
        assertThat(most - before).isLessThan(8 * MEGABYTE);
    }
}
