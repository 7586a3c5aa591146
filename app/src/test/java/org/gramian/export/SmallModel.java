package org.gramian.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.CropPlan;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.OpenSet;
import org.gramian.pooling.Fitting;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.TinyModel;

/**
 * A model with random weights, fitted where it must be, and its card.
 *
 * @param model to be closed
 * @param card three classes, a temperature other than 1
 */
record SmallModel(Model model, ModelCard card) implements AutoCloseable {
    /** Images that fitted parameters see. */
    private static final int FITTED_TO = 24;

    /**
     * Of scores and descriptors, beside the largest: rounding of single precision, through products in another order. Most is
     * in Fisher vectors, which divide by small deviations: 2.5e-5 where libtorch has one thread, as other tests may leave it.
     */
    private static final double ROUNDING = 5e-5;

    static SmallModel of(String pooling, int side) {
        return of(Backbone.of("filters"), pooling, side, false);
    }

    static SmallModel of(Backbone backbone, String pooling, int side, boolean normalized) {
        SplittableRandom random = new SplittableRandom(5);
        ParameterSet weights = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        spread(weights, random);
        return of(backbone, weights, pooling, side, normalized, random);
    }

    static SmallModel of(
            Backbone backbone,
            ParameterSet weights,
            String pooling,
            int side,
            boolean normalized,
            SplittableRandom random) {
        Pooling resolved = Pooling.parse(pooling).resolve(backbone, FITTED_TO);
        Head head = new Head(resolved, 3, normalized);
        Model model = Model.begin(backbone, weights, head, random, Device.CPU);
        ParameterSet parameters = model.headParameters();
        if (Fitting.isNeeded(resolved)) {
            fit(model, resolved, side, random);
        }
        try (Scope _ = Scope.open()) {
            Parameter classifier = parameters.get("classifier.weight");
            classifier.set(Tensors.gaussian(random, classifier.value().shape(), DType.F32));
        }
        spread(parameters, random);
        ModelCard card = new ModelCard(
                List.of("paper", "stone", "a \"b\", ü"),
                backbone.preprocessing(),
                CropPlan.parse("center:" + side),
                1.7,
                new LinkedHashMap<>(),
                new LinkedHashMap<>(),
                Optional.of(new OpenSet(
                        0.05, new OpenSet.Scale(1, 0.5), new OpenSet.Scale(0, 1), List.of(-1.0, 0.0, 1.0))));
        model.setKnown(Optional.of(TinyModel.known(random, resolved.descriptorSize(backbone.channels()), 3)));
        return new SmallModel(model, card);
    }

    private static void fit(Model model, Pooling pooling, int side, SplittableRandom random) {
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor images = Tensors.gaussian(random, Shape.of(FITTED_TO, 3, side, side), DType.F32);
            Tensor features = model.backbone()
                    .apply(
                            tape.constant(images),
                            Bindings.of(model.backboneParameters().variables(tape)))
                    .value();
            Fitting.fit(pooling, features, model.headParameters().under("pooling"), random);
        }
    }

    /** Biases, scales and statistics start at 0 or 1, which would hide a mistake: they get values. */
    private static void spread(ParameterSet parameters, SplittableRandom random) {
        for (Parameter parameter : parameters.all()) {
            String name = parameter.name();
            boolean statistic = name.endsWith(".running_mean") || name.endsWith(".running_var");
            boolean plain = name.endsWith(".bias")
                    || (name.endsWith(".weight") && parameter.value().shape().rank() == 1);
            if (statistic || plain) {
                try (Scope _ = Scope.open()) {
                    Tensor noise = Tensors.gaussian(random, parameter.value().shape(), DType.F32);
                    Tensor small = noise.abs().mul(0.2);
                    parameter.set(parameter.value().add(small));
                }
            }
        }
    }

    /** Crops as preprocessing leaves them, about 0. */
    float[] crops(int count) {
        SplittableRandom random = new SplittableRandom(count);
        int side = card.crops().size();
        float[] crops = new float[count * 3 * side * side];
        for (int i = 0; i < crops.length; i++) {
            crops[i] = (float) random.nextGaussian();
        }
        return crops;
    }

    Shape shape(int count) {
        return Shape.of(count, 3, card.crops().size(), card.crops().size());
    }

    void write(Path file, int opset) throws IOException {
        ExportedFile.write(file, ExportedFile.content(model, card, opset), _ -> {});
    }

    /** Exports the model and compares ONNX Runtime with libtorch on so many crops at once. */
    void requireAgreement(Path folder, int opset, int... counts) throws IOException {
        Path file = folder.resolve("model.onnx");
        write(file, opset);
        try (OnnxEngine onnx = OnnxEngine.open(file, 1)) {
            assertThat(onnx.header().backbone()).isEqualTo(model.backbone());
            for (int count : counts) {
                EngineDifference found = EngineDifference.of(onnx, Engine.of(model), crops(count), shape(count));
                double scale = Math.max(1, found.largestScore());
                assertThat(found.scores() / scale)
                        .as("%s, %d crops: %s", model.backbone(), count, found)
                        .isLessThan(ROUNDING);
                assertThat(found.probabilities()).as(found.text()).isLessThan(10 * ROUNDING);
                assertThat(found.descriptors() / scale).as(found.text()).isLessThan(ROUNDING);
                assertThat(found.distances()).as(found.text()).isLessThan(1e-3);
                assertThat(found.largestScore()).as("scores other than 0").isGreaterThan(1e-3);
            }
        }
    }

    @Override
    public void close() {
        model.close();
    }
}
