package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.model.InferencePipeline;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;

/**
 * Plan of a benchmark: every workload with every batch size and precision.
 *
 * @param workloads in this order
 * @param grid batch sizes, precisions and device
 * @param sizes model and input sizes
 * @param runs number of timings
 */
public record BenchPlan(List<BenchWorkload> workloads, Grid grid, Sizes sizes, Runs runs) {
    /**
     * Batch sizes, precisions and device.
     *
     * @param batches batch sizes; empty for the default of each workload
     * @param precisions empty for all that the device supports
     * @param device of all sides
     * @param threads of all sides
     */
    public record Grid(List<Integer> batches, List<Precision> precisions, Device device, int threads) {
        public Grid {
            batches.forEach(batch -> requireAtLeast(1, "a batch", batch));
            requireAtLeast(1, "the number of threads", threads);
            precisions.forEach(precision -> precision.requireOn(device));
            boolean cuda = device.kind() == Device.Kind.CUDA;
            batches = List.copyOf(batches);
            precisions = precisions.isEmpty()
                    ? cuda ? List.of(Precision.values()) : List.of(Precision.F32)
                    : List.copyOf(precisions);
        }
    }

    /**
     * Model and input sizes.
     *
     * @param pooling of the head
     * @param backbone name or file, cut at its default layer
     * @param channels of the feature maps of a head without a backbone
     * @param side height and width of these feature maps
     * @param pixels height and width of the images
     * @param classes of the classifier
     */
    public record Sizes(String pooling, String backbone, int channels, int side, int pixels, int classes) {
        public Sizes {
            requireAtLeast(2, "the number of channels", channels);
            requireAtLeast(1, "the side of the maps", side);
            requireAtLeast(2, "the number of classes", classes);
            requireAtLeast(1, "the side of the images", pixels);
        }

        /** Throws if the sizes do not fit together. */
        void requireFits(BenchWorkload workload) {
            Shape maps = Shape.of(channels, side, side);
            boolean predicts = workload == BenchWorkload.PREDICTION;
            if (workload.hasBackbone() || predicts) {
                maps = WeightStore.ofProcess().backbone(backbone).features(pixels, pixels);
            }
            if (workload.hasHead() || predicts) {
                Pooling parsed = Pooling.parse(pooling);
                parsed.descriptorSize(maps.at(0));
                parsed.requireFits(maps);
            }
        }
    }

    /**
     * Number of timings.
     *
     * @param warmups warm-up rounds; unless there are none, a side of short steps warms up for some seconds, too
     * @param timed timed rounds
     * @param trajectory training steps whose losses are compared, 0 for none
     */
    public record Runs(int warmups, int timed, int trajectory) {
        public Runs {
            requireAtLeast(0, "the number of warm-ups", warmups);
            requireAtLeast(1, "the number of timings", timed);
            requireAtLeast(0, "the number of steps of a trajectory", trajectory);
        }
    }

    /** Measurement of a plan. */
    record Case(BenchWorkload workload, TaskSpec spec) {}

    public BenchPlan {
        workloads = List.copyOf(workloads);
        workloads.forEach(sizes::requireFits);
        if (workloads.isEmpty()) {
            throw new IllegalArgumentException("expected at least one workload, found none");
        }
    }

    private static void requireAtLeast(int least, String what, int found) {
        if (found < least) {
            throw new IllegalArgumentException(what + " must be at least " + least + ", found " + found);
        }
    }

    /**
     * Returns all measurements in order.
     *
     * @throws IllegalArgumentException if none is left
     */
    List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (BenchWorkload workload : workloads) {
            boolean varied = workload.hasHead() || workload.hasBackbone();
            boolean counted = varied || workload == BenchWorkload.PREDICTION; // the others need enough to be timed
            for (int batch : counted && !grid.batches.isEmpty() ? grid.batches : List.of(usualBatch(workload))) {
                for (Precision precision : varied ? grid.precisions : List.of(Precision.F32)) {
                    if (!leavesOut(workload, precision)) {
                        cases.add(new Case(workload, spec(workload.text(), batch, precision)));
                    }
                }
            }
        }
        if (cases.isEmpty()) {
            throw new IllegalArgumentException("nothing to measure: bf16 applies to the convolutions of a backbone;"
                    + " use f32 or tf32 for a head, or --only network");
        }
        return cases;
    }

    /** Returns a message for each workload that is skipped in some precision. */
    List<String> leftOut() {
        return workloads.stream()
                .filter(workload -> grid.precisions.stream().anyMatch(precision -> leavesOut(workload, precision)))
                .map(workload -> workload.text() + " is not measured in bf16, which applies to the convolutions of a"
                        + " backbone; the head is in float32")
                .toList();
    }

    /** Returns whether a combination is skipped: heads compute in float32. */
    private static boolean leavesOut(BenchWorkload workload, Precision precision) {
        return precision == Precision.BF16 && workload.hasHead() && !workload.hasBackbone();
    }

    private int usualBatch(BenchWorkload workload) {
        return switch (workload) {
            case HEAD_FORWARD, HEAD_TRAINING -> 32;
            case NETWORK_FORWARD, NETWORK_TRAINING, BACKBONE_FORWARD, BACKBONE_TRAINING ->
                grid.device.kind() == Device.Kind.CUDA ? 32 : 8;
            case DEFINITION -> 1;
            case IMAGES -> 150;
            case PREDICTION -> 10 * InferencePipeline.DEFAULT_BATCH;
        };
    }

    /** Returns the specification of a task. */
    TaskSpec spec(String task, int batch, Precision precision) {
        SequencedMap<String, String> values = new LinkedHashMap<>();
        values.put("batch", "" + batch);
        values.put("precision", precision.text());
        values.put("device", grid.device.toString());
        values.put("threads", "" + grid.threads);
        values.put("pooling", sizes.pooling);
        values.put("backbone", sizes.backbone);
        values.put("channels", "" + sizes.channels);
        values.put("side", "" + sizes.side);
        values.put("pixels", "" + sizes.pixels);
        values.put("classes", "" + sizes.classes);
        return new TaskSpec(task, values);
    }
}
