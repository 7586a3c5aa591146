package org.gramian.run.plan;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.image.ImageReader;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Fitting;
import org.gramian.run.config.RunConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.recipe.Recipe;

/**
 * Measures the speed of a machine by the fastest of a few batches of random images, after a warm-up.
 *
 * @param model the model or one like it; unfitted parameters of the pooling are fitted to random features, others stay
 * @param config of the run
 * @param reader of images
 */
public record Probe(Model model, RunConfig config, ImageReader reader) {

    private static final int MOST_CROPS = 8;

    /** Default batch size: the head is slower per crop in small batches. */
    private static final int MOST_FEATURES = 32;

    private static final int MOST_IMAGES = 8;

    private static final int MOST_RUNS = 4;

    private static final double ENOUGH_SECONDS = 0.5;

    /**
     * Measures; takes seconds.
     *
     * @param images files, a few of which are decoded
     */
    public Pace measure(List<Path> images) {
        int crops = Math.min(MOST_CROPS, config.recipe().batching().batch());
        int size = config.options().crops().size();
        SplittableRandom random = new SplittableRandom(0);
        Shape feature = model.backbone().features(size, size);
        int rows = Math.min(MOST_FEATURES, config.recipe().batching().batch());
        Shape features = Shape.of(rows, feature.at(0), feature.at(1), feature.at(2));
        try (Scope _ = Scope.open()) {
            Tensor inputs = images(random, crops, size);
            Tensor stepped = images(random, crops, trainedSize());
            // not negative, as behind a ReLU
            Tensor maps = Tensors.uniform(random, 0, 1, features, DType.F32).to(model.device());
            Fitting.pretend(model.headParameters().under("pooling"), random);
            return new Pace(
                    decoding(images),
                    seconds(() -> forward(inputs)) / crops,
                    seconds(() -> head(maps)) / rows,
                    config.recipe().stage2().epochs() > 0 ? seconds(() -> step(stepped, true)) / crops : 0,
                    isSolved() ? 0 : update());
        }
    }

    private Tensor images(SplittableRandom random, int crops, int size) {
        return Tensors.gaussian(random, Shape.of(crops, 3, size, size), DType.F32)
                .to(model.device());
    }

    /** Returns the image size of fine-tuning. */
    private int trainedSize() {
        Recipe.Augmenting augmenting = config.recipe().augmenting();
        return augmenting.policy().isNone() ? config.options().crops().size() : augmenting.imageSize();
    }

    private boolean isSolved() {
        return config.recipe().solver().isPresent();
    }

    /** Runs the head on features: forward only for a solver. */
    private void head(Tensor maps) {
        if (!isSolved()) {
            step(maps, false);
            return;
        }
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Bindings bindings = Bindings.of(model.headParameters().variables(tape));
            model.scores(tape.constant(maps), bindings, Head.Mode.PREDICTING);
        }
    }

    /** Returns the seconds of an optimizer step on a copy of the head's new parameters. */
    private double update() {
        Set<String> tail = model.head().pretrained().keySet();
        List<ParameterSpec> moved = model.head().parameters(model.backbone().channels()).stream()
                .filter(spec -> spec.role() != ParameterSpec.Role.FITTED && !tail.contains(spec.name()))
                .toList();
        try (ParameterSet twins = ParameterSet.initialize(moved, new SplittableRandom(0), DType.F32, model.device());
                Optimizer optimizer = config.recipe().optimizer().create()) {
            return seconds(() -> {
                try (Scope _ = Scope.open()) {
                    // any gradient takes as long
                    Map<Parameter, Tensor> gradients = new HashMap<>();
                    twins.all().forEach(twin -> gradients.put(twin, twin.value().copy()));
                    optimizer.step(List.of(ParameterGroup.of(twins)), gradients);
                }
            });
        }
    }

    private double decoding(List<Path> images) {
        List<Path> some =
                images.stream().limit(Math.min(MOST_IMAGES, images.size())).toList();
        if (some.isEmpty()) {
            return 0;
        }
        return seconds(() -> some.forEach(reader::read)) / some.size();
    }

    private void forward(Tensor inputs) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            features(tape, tape.constant(inputs));
        }
    }

    private Var features(Tape tape, Var inputs) {
        return model.features(inputs, Bindings.of(model.backboneParameters().variables(tape)));
    }

    /** Runs forward and backward pass; prediction mode leaves batch-norm statistics unchanged. */
    private void step(Tensor inputs, boolean all) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Var input = tape.constant(inputs);
            Var maps = all ? features(tape, input) : input;
            Set<String> frozen = all ? Set.of() : model.head().pretrained().keySet();
            Bindings bindings = Bindings.of(model.headParameters().variables(tape, frozen::contains));
            Var scores = model.scores(maps, bindings, Head.Mode.PREDICTING);
            Tensor targets = Classification.oneHot(
                    new long[Math.toIntExact(inputs.size(0))], model.head().classes(), DType.F32);
            Var loss = Classification.crossEntropy(scores, targets.to(model.device()));
            tape.backward(loss).close();
        }
    }

    private double seconds(Runnable task) {
        task.run();
        model.device().synchronize();
        double fastest = Double.MAX_VALUE;
        double all = 0;
        for (int i = 0; i < MOST_RUNS && all < ENOUGH_SECONDS; i++) {
            long start = System.nanoTime();
            task.run();
            model.device().synchronize();
            double taken = (System.nanoTime() - start) / 1e9;
            fastest = Math.min(fastest, taken);
            all += taken;
        }
        return fastest;
    }

    /**
     * Speed of a machine: seconds per crop, and per optimizer step.
     *
     * @param decoding of an image on one thread
     * @param feature forward pass of the backbone
     * @param head forward and backward pass of the head; forward only for a solver
     * @param all forward and backward pass of backbone and head; 0 without stage 2
     * @param update optimizer step of the head; 0 for a solver
     */
    public record Pace(double decoding, double feature, double head, double all, double update) {}
}
