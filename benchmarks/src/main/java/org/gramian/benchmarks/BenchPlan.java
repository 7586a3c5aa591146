package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.gramian.backbone.Backbone;
import org.gramian.model.InferencePipeline;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;

/**
 * What is to be measured: every workload with every batch and every precision.
 *
 * @param workloads in this order
 * @param grid batches, precisions and where
 * @param sizes what is computed
 * @param runs how often
 */
public record BenchPlan(List<Workload> workloads, Grid grid, Sizes sizes, Runs runs) {
    /**
     * What is varied, and where it runs.
     *
     * @param batches images at once; none for the usual number of each workload
     * @param precisions in which numbers; none for all that make sense
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
     * What is computed.
     *
     * @param pooling of the head, as text
     * @param backbone the network, cut at its default layer
     * @param channels of the maps that a head alone is given
     * @param side of these maps
     * @param pixels side of the images that a network is given
     * @param classes of the classifier
     */
    public record Sizes(String pooling, String backbone, int channels, int side, int pixels, int classes) {
        public Sizes {
            requireAtLeast(2, "the number of channels", channels);
            requireAtLeast(1, "the side of the maps", side);
            requireAtLeast(2, "the number of classes", classes);
            requireAtLeast(1, "the side of the images", pixels);
        }

        /** Says no to sizes that do not go together, before anything is started. */
        void requireFits(Workload workload) {
            Shape maps = Shape.of(channels, side, side);
            boolean predicts = workload == Workload.PREDICTION;
            if (workload.hasBackbone() || predicts) {
                maps = Backbone.of(backbone).features(pixels, pixels);
            }
            if (workload.hasHead() || predicts) {
                Pooling parsed = Pooling.parse(pooling);
                parsed.descriptorSize(maps.at(0));
                parsed.requireFits(maps);
            }
        }
    }

    /**
     * How often.
     *
     * @param warmups rounds that do not count
     * @param timed rounds that count
     * @param trajectory steps whose losses are compared, 0 for none
     */
    public record Runs(int warmups, int timed, int trajectory) {
        public Runs {
            requireAtLeast(0, "the number of warm-ups", warmups);
            requireAtLeast(1, "the number of timings", timed);
            requireAtLeast(0, "the number of steps of a trajectory", trajectory);
        }
    }

    /** One of the measurements. */
    record Case(Workload workload, TaskSpec spec) {}

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
     * All measurements, in their order.
     *
     * @throws IllegalArgumentException if none is left
     */
    List<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (Workload workload : workloads) {
            boolean varied = workload.hasHead() || workload.hasBackbone();
            boolean counted = varied || workload == Workload.PREDICTION; // the others need enough to be timed
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

    /** What is asked for and not measured, in sentences. */
    List<String> leftOut() {
        return workloads.stream()
                .filter(workload -> grid.precisions.stream().anyMatch(precision -> leavesOut(workload, precision)))
                .map(workload -> workload.text() + " is not measured in bf16, which applies to the convolutions of a"
                        + " backbone; the head is in float32")
                .toList();
    }

    /** A head is of single precision. */
    private static boolean leavesOut(Workload workload, Precision precision) {
        return precision == Precision.BF16 && workload.hasHead() && !workload.hasBackbone();
    }

    private int usualBatch(Workload workload) {
        return switch (workload) {
            case HEAD_FORWARD, HEAD_TRAINING -> 32;
            case NETWORK_FORWARD, NETWORK_TRAINING, BACKBONE_FORWARD, BACKBONE_TRAINING ->
                grid.device.kind() == Device.Kind.CUDA ? 32 : 8;
            case DEFINITION -> 1;
            case PICTURES -> 150;
            case PREDICTION -> 10 * InferencePipeline.DEFAULT_BATCH;
        };
    }

    /** What a worker of a task is told. */
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
