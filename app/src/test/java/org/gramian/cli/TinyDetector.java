package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.anomaly.Detector;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.Backbone;
import org.gramian.basis.JsonText;
import org.gramian.image.Image;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;

/** The file of a detector that was never trained: random parameters, calibrated on {@link #image}s of 1 to 20. */
public final class TinyDetector {
    public static final int IMAGES = 20;
    private static final int WIDTH = 96;
    private static final int HEIGHT = 64;

    private TinyDetector() {}

    public static Path write(Path file) throws IOException {
        return write(file, "gramian-s", List.of("layer2.0", "layer3.0"), "NEIGHBOURS", true);
    }

    /** Writes a detector, then again with the scores of good images as calibration. */
    public static Path write(Path file, String backbone, List<String> layers, String kind, boolean whole)
            throws IOException {
        double[] ones = IntStream.range(0, IMAGES).mapToDouble(_ -> 1).toArray();
        write(file, backbone, layers, kind, whole, ones, ones);
        double[] scores = new double[IMAGES];
        double[] peaks = new double[IMAGES];
        try (Detector detector = Detector.load(file)) {
            for (int i = 0; i < IMAGES; i++) {
                var inspected = detector.inspect(image(i + 1));
                scores[i] = inspected.score();
                peaks[i] = inspected.map().max();
            }
        }
        write(file, backbone, layers, kind, whole, scores, peaks);
        return file;
    }

    private static void write(
            Path file, String name, List<String> layers, String kind, boolean whole, double[] scores, double[] peaks)
            throws IOException {
        try (Scope _ = Scope.open()) {
            SplittableRandom random = new SplittableRandom(5);
            Backbone backbone = Backbone.of(name).cutAt(String.join("+", layers));
            Map<String, StoredTensor> tensors = new LinkedHashMap<>();
            ParameterSet parameters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
            for (Parameter parameter : parameters.all()) {
                tensors.put("backbone." + parameter.name(), StoredTensor.of(parameter.value()));
            }
            long d = backbone.channels();
            Shape grid = grid(backbone, layers);
            long p = grid.elements();
            tensors.put("patches.mean", gaussian(random, kind.equals("POSITIONS") ? Shape.of(p, d) : Shape.of(d)));
            if (kind.equals("POSITIONS")) {
                tensors.put(
                        "patches.precision",
                        StoredTensor.of(Tensors.gaussian(random, Shape.of(p, d), DType.F32)
                                .mulInPlace(0.1)
                                .add(2)));
                tensors.put("patches.factor", gaussian(random, Shape.of(p, d, 3)));
            } else {
                tensors.put("patches.whitening", gaussian(random, Shape.of(d, d)));
            }
            if (kind.equals("NEIGHBOURS")) {
                tensors.put("patches.bank", gaussian(random, Shape.of(37, d)));
            }
            if (whole) {
                tensors.put("whole.mean", gaussian(random, Shape.of(d)));
                tensors.put("whole.whitening", gaussian(random, Shape.of(d, d)));
            }
            tensors.put("calibration.scores", doubles(scores));
            tensors.put("calibration.peaks", doubles(peaks));
            Map<String, String> texts = new LinkedHashMap<>();
            texts.put("format", "gramian-detector");
            texts.put("version", "1");
            texts.put("backbone", name);
            texts.put("layers", JsonText.of(layers));
            texts.put("detector", kind);
            texts.put("preprocessing", backbone.preprocessing().text());
            texts.put("width", "" + WIDTH);
            texts.put("height", "" + HEIGHT);
            texts.put("tile", "0");
            texts.put("patchScale", "3.5");
            texts.put("wholeScale", whole ? "2.5" : "0.0");
            texts.put("falseAlarms", "0.1");
            texts.put("origin", "{}");
            texts.put("metrics", "{\"auroc\":0.9}");
            Safetensors.writeChecked(file, tensors, texts);
        }
    }

    private static Shape grid(Backbone backbone, List<String> layers) {
        Shape maps = layers.stream()
                .map(layer -> backbone.cutAt(layer).features(HEIGHT, WIDTH))
                .filter(shape -> shape.at(1) <= HEIGHT / 16)
                .findFirst()
                .orElseGet(() -> backbone.cutAt(layers.getLast()).features(HEIGHT, WIDTH));
        return Shape.of(maps.at(1), maps.at(2));
    }

    private static StoredTensor gaussian(SplittableRandom random, Shape shape) {
        Tensor values = Tensors.gaussian(random, shape, DType.F32).mulInPlace(0.1);
        return StoredTensor.of(values);
    }

    private static StoredTensor doubles(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return StoredTensor.of(Tensors.of(sorted, Shape.of(sorted.length), DType.F64));
    }

    /** Returns stripes with noise. */
    public static Image image(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] rgb = new byte[3 * 90 * 60];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = (byte) (100 + 40 * (i / 3 % 90 / 6 % 2) + random.nextInt(24));
        }
        return new Image(90, 60, rgb);
    }

    /** Returns an image with a bright square, far from those of the calibration. */
    public static Image defective(long seed) {
        byte[] rgb = image(seed).rgb().clone();
        for (int y = 20; y < 45; y++) {
            for (int x = 10; x < 45; x++) {
                for (int c = 0; c < 3; c++) {
                    rgb[3 * (y * 90 + x) + c] = (byte) (c == 1 ? 0 : 255);
                }
            }
        }
        return new Image(90, 60, rgb);
    }
}
