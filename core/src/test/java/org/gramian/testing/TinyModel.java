package org.gramian.testing;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.basis.CountSketch;
import org.gramian.image.Image;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;
import org.gramian.linear.ClassDistances;
import org.gramian.linear.LabelledRows;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.OpenSet.KnownClasses;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** A model that was never trained: fixed filters, a small pooling, a random classifier that tells its classes well apart. */
public final class TinyModel {
    public static final List<String> CLASSES = List.of("fabric", "foliage", "glass");
    private static final String POOLING = "conv:4/rbf/spd:3/relu/triu/root/l2";

    private TinyModel() {}

    public static Model of(long seed) {
        return of(seed, false);
    }

    public static Model of(long seed, boolean normalized) {
        SplittableRandom random = new SplittableRandom(seed);
        Backbone backbone = Backbone.of("filters");
        ParameterSet filters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
        Head head = new Head(Pooling.parse(POOLING), CLASSES.size(), normalized);
        Model model = Model.begin(backbone, filters, head, random, Device.CPU);
        Parameter weight = model.headParameters().get("classifier.weight");
        weight.set(Tensors.gaussian(random, weight.value().shape(), DType.F32));
        return model;
    }

    /** Random distances from classes. */
    public static KnownClasses known(SplittableRandom random, long descriptorSize, int classes) {
        try (Scope _ = Scope.open()) {
            long length = Math.min(descriptorSize, CountSketch.LENGTH);
            Tensor rows =
                    Tensors.gaussian(random, Shape.of(30, length), DType.F32).mul(1 / Math.sqrt(length));
            int[] labels = IntStream.range(0, 30).map(i -> i % classes).toArray();
            LabelledRows labelled =
                    LabelledRows.of(rows, labels, IntStream.range(0, 30).toArray(), classes);
            return KnownClasses.of(descriptorSize, ClassDistances.fit(labelled));
        }
    }

    public static ModelCard card(String crops) {
        return card(crops, 1);
    }

    public static ModelCard card(String crops, double temperature) {
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put("seed", "7");
        origin.put("configuration", "epochs: 9\nnote: \"ünïcode\"\n");
        SequencedMap<String, Double> metrics = new LinkedHashMap<>();
        metrics.put("accuracy", 0.1 + 0.2);
        metrics.put("log_loss", Double.MIN_VALUE);
        Preprocessing preprocessing = Backbone.of("filters").preprocessing();
        return new ModelCard(CLASSES, preprocessing, CropPlan.parse(crops), temperature, origin, metrics);
    }

    /** Waves that the seed decides. */
    public static Image image(long seed, int width, int height) {
        SplittableRandom random = new SplittableRandom(seed);
        double across = random.nextDouble(0.02, 0.4);
        double down = random.nextDouble(0.02, 0.4);
        byte[] rgb = new byte[3 * width * height];
        for (int i = 0; i < rgb.length; i++) {
            int x = i / 3 % width;
            int y = i / 3 / width;
            rgb[i] = (byte) (128 + 90 * Math.sin(across * x + down * y + i % 3) + random.nextInt(20));
        }
        return new Image(width, height, rgb);
    }
}
