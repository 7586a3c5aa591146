package org.gramian.train.distill;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.backbone.Backbone;
import org.gramian.image.batch.Shuffle;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.distill.DistillSteps.Batch;
import org.jspecify.annotations.Nullable;

/**
 * Crops and what the teachers computed for them, for use in several steps: teachers cost more than the student, and a crop that a
 * student saw once has more to teach (data echoing, Choi et al. 2019, arXiv:1907.05550).
 *
 * <p>An epoch is cut into blocks of as many batches as fit into memory. The first pass over a block takes its batches as they are
 * rendered, each further pass takes its crops in another order:
 *
 * <pre>{@code block 0: batches 0 1 2 | shuffled | shuffled;  block 1: batches 3 4 5 | shuffled | shuffled;  ...}</pre>
 *
 * <p>The order follows from (seed, epoch, block, pass). After {@link #seek} into the middle of a block its batches are rendered
 * again, so that a resumed run continues with the same bits.
 */
final class CropMemory implements AutoCloseable {
    /** Share of the memory of the device, free or not: the length of blocks must not depend on other programs. */
    private static final int PART_OF_MEMORY = 8;

    /**
     * How an epoch is cut into steps.
     *
     * @param batch crops of a step
     * @param batches that an epoch renders
     * @param passes over each block
     * @param block batches of a block; the last one may be shorter
     * @param seed of the orders
     */
    record Plan(int batch, int batches, int passes, int block, long seed) {}

    private final Plan plan;
    private final Tensor input;
    private final List<Teacher.Output> targets;
    private final int[] order;
    private int block = -1;
    private int first;
    private int filled;
    private int needed;
    private boolean isNewOrder;

    /**
     * Creates a memory with space for the crops of a block.
     *
     * @param input of the student {@code [block·batch, 3, side, side]}
     * @param targets of each teacher, with as many rows
     */
    CropMemory(Plan plan, Tensor input, List<Teacher.Output> targets) {
        this.plan = plan;
        this.input = input;
        this.targets = List.copyOf(targets);
        this.order = new int[Math.multiplyExact(rows(), plan.passes)];
    }

    /**
     * Allocates memory for the crops of a block: as many batches of an epoch as fit into an eighth of the memory, at least one.
     *
     * @param type of the networks' inputs and feature maps
     */
    static CropMemory of(
            List<Teacher> teachers, TrainingImages images, DistillOptions options, DType type, Device device) {
        long available = (device.kind() == Device.Kind.CUDA
                        ? Libtorch.load().cudaMemoryTotal().orElseThrow()
                        : ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                                .getTotalMemorySize())
                / PART_OF_MEMORY;
        Shape crop = Shape.of(3, options.imageSize(), options.imageSize());
        long bytes = crop.elements() * type.bytes();
        for (Teacher teacher : teachers) {
            for (Shape maps : maps(teacher, options)) {
                bytes += maps.elements() * type.bytes();
            }
            bytes += (long) teacher.classes() * DType.F32.bytes();
        }
        long fits = Math.clamp(available / bytes / images.batch(), 1, images.steps());
        long rows = fits * images.batch();
        try (Scope scope = Scope.open()) {
            Tensor input = Tensors.empty(stacked(rows, crop), type, device);
            List<Teacher.Output> targets = new ArrayList<>();
            for (Teacher teacher : teachers) {
                List<Tensor> maps = maps(teacher, options).stream()
                        .map(shape -> Tensors.empty(stacked(rows, shape), type, device))
                        .toList();
                @Nullable
                Tensor scores = teacher.classes() == 0
                        ? null
                        : Tensors.empty(Shape.of(rows, teacher.classes()), DType.F32, device);
                targets.add(new Teacher.Output(maps, scores));
            }
            scope.release(input);
            targets.forEach(output -> output.tensors().forEach(scope::release));
            Plan plan =
                    new Plan(images.batch(), images.steps(), options.reuse(), Math.toIntExact(fits), options.seed());
            return new CropMemory(plan, input, targets);
        }
    }

    /** Returns the shapes {@code [c, h, w]} of a teacher's matched layers. */
    private static List<Shape> maps(Teacher teacher, DistillOptions options) {
        Backbone backbone = teacher.backbone();
        return backbone.cutLayers().stream()
                .map(layer -> backbone.cutAt(layer).features(options.teacherSize(), options.teacherSize()))
                .toList();
    }

    private static Shape stacked(long rows, Shape each) {
        return Shape.of(rows, each.at(0), each.at(1), each.at(2));
    }

    /** Returns the number of crops of a block. */
    int rows() {
        return plan.block * plan.batch;
    }

    /**
     * Forgets all crops, before a step of an epoch.
     *
     * @return the first batch of the epoch that has to be rendered
     */
    int seek(int step) {
        block = -1;
        return step / (plan.block * plan.passes) * plan.block;
    }

    /**
     * Moves to a step of an epoch; {@link #missing} batches must be added before it.
     *
     * @param wanted number of steps to take at once
     * @return number of steps that can be taken at once: up to the end of the pass
     */
    int begin(int epoch, int step, int wanted) {
        int now = step / (plan.block * plan.passes);
        int present = Math.min(plan.block, plan.batches - now * plan.block);
        int inBlock = step - now * plan.block * plan.passes;
        isNewOrder = now != block;
        if (isNewOrder) {
            block = now;
            filled = 0;
            shuffle(epoch, present * plan.batch);
        }
        int possible = Math.min(wanted, present - inBlock % present);
        first = inBlock * plan.batch;
        needed = Math.min(present, inBlock + possible);
        return possible;
    }

    private void shuffle(int epoch, int rows) {
        Arrays.setAll(order, i -> i < rows ? i : 0);
        for (int pass = 1; pass < plan.passes; pass++) {
            long key = ((long) epoch * plan.batches + block) * plan.passes + pass;
            System.arraycopy(Shuffle.epoch(rows, ~plan.seed, key), 0, order, pass * rows, rows);
        }
    }

    /** Returns the number of batches that must be added before the next step. */
    int missing() {
        return needed - filled;
    }

    /** Copies the next batch of the block. */
    void add(Batch fresh) {
        long start = (long) filled * plan.batch;
        copy(fresh.input(), input, start);
        for (int i = 0; i < targets.size(); i++) {
            List<Tensor> from = fresh.targets().get(i).tensors();
            List<Tensor> to = targets.get(i).tensors();
            for (int k = 0; k < to.size(); k++) {
                copy(from.get(k), to.get(k), start);
            }
        }
        filled++;
    }

    private void copy(Tensor from, Tensor to, long start) {
        to.slice(0, start, start + plan.batch).copyFrom(from.to(to.type()));
    }

    /** Whether {@link #order} changed with the last {@link #begin}. */
    boolean isNewOrder() {
        return isNewOrder;
    }

    /** Returns the rows of the block in the order of its steps; zeros follow those of a short block. */
    int[] order() {
        return order;
    }

    /** Returns the place in {@link #order} where the next step begins. */
    int first() {
        return first;
    }

    /**
     * Gathers a batch, in the current scope; this can be part of a CUDA graph.
     *
     * @param rows I64 {@code [n]}
     */
    Batch get(Tensor rows) {
        return new Batch(
                input.select(0, rows),
                targets.stream()
                        .map(output ->
                                output.map(tensor -> tensor.select(0, rows).to(DType.F32)))
                        .toList());
    }

    @Override
    public void close() {
        input.close();
        targets.forEach(output -> output.tensors().forEach(Tensor::close));
    }
}
