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
import org.gramian.image.PictureReader;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Fitting;
import org.gramian.run.config.RunConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;

/**
 * Finds the pace of a machine by one small batch of random pictures, after another one to warm up.
 *
 * @param model what will be trained, or one like it: its values stay as they are, but what the pooling takes from data is
 *     fitted to random features where it has no value yet
 * @param config how
 * @param reader of pictures
 */
public record Probe(Model model, RunConfig config, PictureReader reader) {
    /** Enough to use all cores, few enough to wait for. */
    private static final int MOST_CROPS = 8;

    private static final int MOST_PICTURES = 8;

    /**
     * Measures; takes seconds.
     *
     * @param pictures files to decode, of which a few are taken
     */
    public Pace measure(List<Path> pictures) {
        int crops = Math.min(MOST_CROPS, config.recipe().batching().batch());
        int size = config.data().crops().size();
        SplittableRandom random = new SplittableRandom(0);
        Shape feature = model.backbone().features(size, size);
        Shape features = Shape.of(crops, feature.at(0), feature.at(1), feature.at(2));
        try (Scope _ = Scope.open()) {
            Tensor inputs =
                    Tensors.to(Tensors.gaussian(random, Shape.of(crops, 3, size, size), DType.F32), model.device());
            // Not negative, as what leaves a rectified layer.
            Tensor maps = Tensors.to(Tensors.uniform(random, 0, 1, features, DType.F32), model.device());
            Fitting.pretend(model.headParameters().under("pooling"), random);
            return new Pace(
                    decoding(pictures),
                    seconds(() -> forward(inputs)) / crops,
                    seconds(() -> head(maps)) / crops,
                    config.recipe().stage2().epochs() > 0 ? seconds(() -> step(inputs, true)) / crops : 0,
                    isSolved() ? 0 : update());
        }
    }

    private boolean isSolved() {
        return config.recipe().solver().isPresent();
    }

    /** What is done with features: forward alone where the classifier is solved for. */
    private void head(Tensor maps) {
        if (!isSolved()) {
            step(maps, false);
            return;
        }
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Bindings bindings = Bindings.of(model.headParameters().variables(tape));
            model.head().apply(tape.constant(maps), bindings, Head.Mode.PREDICTING);
        }
    }

    /** Of parameters like the new ones of the head, which stays as it is. */
    private double update() {
        Set<String> tail = model.head().pretrained().keySet();
        List<ParameterSpec> moved = model.head().parameters(model.backbone().channels()).stream()
                .filter(spec -> spec.role() != ParameterSpec.Role.FITTED && !tail.contains(spec.name()))
                .toList();
        try (ParameterSet twins = ParameterSet.initialize(moved, new SplittableRandom(0), DType.F32, model.device());
                Optimizer optimizer = config.recipe().optimizer().create()) {
            return seconds(() -> {
                try (Scope _ = Scope.open()) {
                    // Any gradient takes as long; its own value is one of the right shape.
                    Map<Parameter, Tensor> gradients = new HashMap<>();
                    twins.all().forEach(twin -> gradients.put(twin, Tensors.copy(twin.value())));
                    optimizer.step(List.of(ParameterGroup.of(twins)), gradients);
                }
            });
        }
    }

    private double decoding(List<Path> pictures) {
        List<Path> some = pictures.stream()
                .limit(Math.min(MOST_PICTURES, pictures.size()))
                .toList();
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
        return model.backbone()
                .apply(inputs, Bindings.of(model.backboneParameters().variables(tape)));
    }

    /** Forward and backward; in the mode of predicting, which leaves the statistics of batch norms alone. */
    private void step(Tensor inputs, boolean all) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.recording()) {
            Var input = tape.constant(inputs);
            Var maps = all ? features(tape, input) : input;
            Set<String> frozen = all ? Set.of() : model.head().pretrained().keySet();
            Bindings bindings = Bindings.of(model.headParameters().variables(tape, frozen::contains));
            Var scores = model.head().apply(maps, bindings, Head.Mode.PREDICTING);
            Tensor targets = Classification.oneHot(
                    new long[Math.toIntExact(inputs.size(0))], model.head().classes(), DType.F32);
            Var loss = Classification.crossEntropy(scores, Tensors.to(targets, model.device()));
            tape.backward(loss).close();
        }
    }

    private double seconds(Runnable task) {
        task.run();
        synchronize();
        long start = System.nanoTime();
        task.run();
        synchronize();
        return (System.nanoTime() - start) / 1e9;
    }

    private void synchronize() {
        if (model.device().kind() == Device.Kind.CUDA) {
            Libtorch.load().synchronize(model.device());
        }
    }
}
