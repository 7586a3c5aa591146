package org.gramian.explain.gradient;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.Backbone;
import org.gramian.explain.Explanation;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.image.Image;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** Models and images to explain: untrained ones, and one that tells two textures apart. */
public final class Models {
    public static final List<String> CLASSES = List.of("lying", "standing");
    public static final int SIZE = 64;

    private Models() {}

    public static Explanation explain(Model model, ModelCard card, Image image, int label) {
        return new GradientExplainer(model, card, GradientExplainer.DEFAULT_PAIRS)
                .explain(CroppedImage.of(image, card), label);
    }

    /** Sum of the values of all pixels. */
    public static double sum(HeatMap heat) {
        double sum = 0;
        for (int i = 0; i < heat.width() * heat.height(); i++) {
            sum += heat.value(i % heat.width(), i / heat.width());
        }
        return sum;
    }

    /** On the fixed filters, with a random head. */
    public static Model random(String pooling, DType type) {
        Backbone backbone = Backbone.of("filters");
        SplittableRandom random = new SplittableRandom(5);
        ParameterSet filters = ParameterSet.initialize(backbone.parameters(), random, type, Device.CPU);
        Head head = new Head(Pooling.parse(pooling), CLASSES.size(), false);
        ParameterSet parameters =
                ParameterSet.initialize(head.parameters(backbone.channels()), random, type, Device.CPU);
        for (String name : List.of("classifier.weight", "classifier.bias")) {
            Parameter parameter = parameters.get(name);
            parameter.set(Tensors.gaussian(random, parameter.value().shape(), type));
        }
        return new Model(backbone, filters, head, parameters, Device.CPU);
    }

    /** One whose first class is what looks like the first image, and whose second is what looks like the second. */
    public static Model telling(String pooling, Image first, Image second) {
        Model model = random(pooling, DType.F32);
        teach(model, card("resize:" + SIZE), List.of(first), List.of(second));
        return model;
    }

    /** Classifies by the difference of the classes' mean descriptors, with equal scores in their middle. */
    public static void teach(Model model, ModelCard card, List<Image> first, List<Image> second) {
        double[] a = mean(model, card, first);
        double[] b = mean(model, card, second);
        double[] rows = new double[2 * a.length];
        double middle = 0;
        for (int i = 0; i < a.length; i++) {
            rows[i] = a[i] - b[i];
            rows[a.length + i] = b[i] - a[i];
            middle += rows[i] * (a[i] + b[i]) / 2;
        }
        ParameterSet head = model.headParameters();
        head.get("classifier.weight").set(Tensors.of(rows, Shape.of(2, a.length), DType.F32));
        head.get("classifier.bias").set(Tensors.of(new double[] {-middle, middle}, Shape.of(2), DType.F32));
    }

    private static double[] mean(Model model, ModelCard card, List<Image> images) {
        double[] mean = new double[0];
        for (Image image : images) {
            try (Arena arena = Arena.ofConfined()) {
                CroppedImage view = CroppedImage.of(image, card);
                MemorySegment memory = view.write(arena, false);
                float[] row = Engine.of(model).compute(memory, view.shape(false), Engine.Rows.DESCRIPTORS)[0];
                mean = mean.length == 0 ? new double[row.length] : mean;
                for (int i = 0; i < row.length; i++) {
                    mean[i] += row[i] / images.size();
                }
            }
        }
        return mean;
    }

    public static ModelCard card(String crops) {
        return card(crops, Backbone.of("filters").preprocessing());
    }

    public static ModelCard card(String crops, Preprocessing preprocessing) {
        return new ModelCard(
                CLASSES, preprocessing, CropPlan.parse(crops), 1, new LinkedHashMap<>(), new LinkedHashMap<>());
    }

    /** The score of a class of features, by the head as it predicts. */
    public static double score(Model model, Tensor features, int label) {
        try (Tape tape = Tape.inference()) {
            Var scores = model.head()
                    .apply(
                            tape.constant(features),
                            Bindings.of(model.headParameters().variables(tape)),
                            Head.Mode.PREDICTING);
            double[] all = scores.value().toDoubles();
            double sum = 0;
            for (int i = label; i < all.length; i += CLASSES.size()) {
                sum += all[i];
            }
            return sum * CLASSES.size() / all.length;
        }
    }

    /** Grey waves with crests across the image's width, or its height, and some noise. */
    public static Image stripes(int width, int height, boolean lying) {
        return painted(width, height, (x, y) -> lying ? y : x);
    }

    /** Lying stripes in the left half, standing ones in the right. */
    public static Image halves(int width, int height) {
        return painted(width, height, (x, y) -> x < width / 2 ? y : x);
    }

    public static Image plain(int width, int height) {
        return painted(width, height, (x, y) -> 0);
    }

    private interface Phase {
        int at(int x, int y);
    }

    private static Image painted(int width, int height, Phase phase) {
        byte[] rgb = new byte[3 * width * height];
        for (int i = 0; i < rgb.length; i++) {
            int x = i / 3 % width;
            int y = i / 3 / width;
            rgb[i] = (byte) Math.round(128 + 80 * Math.sin(0.9 * phase.at(x, y)));
        }
        return new Image(width, height, rgb);
    }
}
