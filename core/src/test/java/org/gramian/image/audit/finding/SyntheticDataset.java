package org.gramian.image.audit.finding;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleUnaryOperator;
import java.util.random.RandomGenerator;
import org.gramian.image.Image;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageInfo;
import org.gramian.image.ReadResult;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/** A dataset of made-up images that only a test's reader knows; their files hold a few bytes each. */
final class SyntheticDataset {
    private final Path folder;
    private final Map<Path, ReadResult> readings = new HashMap<>();
    private final List<Sample> samples = new ArrayList<>();
    private final List<String> classes;
    private final List<SplitPart> parts = new ArrayList<>();

    SyntheticDataset(Path folder, String... classes) {
        this.folder = folder;
        this.classes = List.of(classes);
    }

    /** Waves of a few random lengths and directions in each channel, with a little noise. */
    static Image texture(RandomGenerator random, int width, int height) {
        byte[] rgb = new byte[3 * width * height];
        double[] wave = random.doubles(5 * 3 * 4).toArray();
        for (int i = 0; i < rgb.length; i++) {
            int column = i / 3 % width;
            double x = (double) column / width;
            int row = i / 3 / width;
            double y = (double) row / height;
            double value = 128 + 8 * random.nextGaussian();
            for (int k = i % 3 * 20; k < i % 3 * 20 + 20; k += 4) {
                value += 50 * (wave[k] - 0.5) * Math.sin(20 * (wave[k + 1] * x + wave[k + 2] * y) + 6.3 * wave[k + 3]);
            }
            rgb[i] = level(value);
        }
        return new Image(width, height, rgb);
    }

    static Image colour(int red, int green, int blue) {
        byte[] rgb = new byte[3 * 300 * 300];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = (byte) (i % 3 == 0 ? red : i % 3 == 1 ? green : blue);
        }
        return new Image(300, 300, rgb);
    }

    static Image resized(Image image, int width, int height) {
        double[] means = ImageSignature.areaMeans(image, width, height);
        byte[] rgb = new byte[means.length];
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = level(means[i]);
        }
        return new Image(width, height, rgb);
    }

    static Image changed(Image image, DoubleUnaryOperator change) {
        byte[] rgb = image.rgb().clone();
        for (int i = 0; i < rgb.length; i++) {
            rgb[i] = level(change.applyAsDouble(rgb[i] & 0xff));
        }
        return new Image(image.width(), image.height(), rgb);
    }

    private static byte level(double value) {
        return (byte) Math.clamp(Math.round(value), 0, 255);
    }

    /** Adds an image to the class that its name begins with; its file holds its name. */
    SyntheticDataset add(String name, Image image) {
        return add(name, new ReadResult.Readable(image, plain(image)));
    }

    static ImageInfo plain(Image image) {
        return new ImageInfo(ImageFormat.JPEG, ImageInfo.Colour.RGB, 8, image.width(), image.height(), 1);
    }

    SyntheticDataset add(String name, ReadResult reading) {
        Path file = folder.resolve(name.replace('/', '-'));
        content(file, name);
        samples.add(new Sample(name, classes.indexOf(name.substring(0, name.indexOf('/'))), file));
        readings.put(file, reading);
        parts.add(SplitPart.TRAIN);
        return this;
    }

    /** The last image's file holds these characters instead. */
    SyntheticDataset holding(String content) {
        content(samples.getLast().file(), content);
        return this;
    }

    /** The last image belongs to a part. */
    SyntheticDataset in(SplitPart part) {
        parts.set(parts.size() - 1, part);
        return this;
    }

    private static void content(Path file, String content) {
        try {
            Files.writeString(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Dataset dataset() {
        return new Dataset(folder, classes, samples);
    }

    Dataset divided() {
        Assignment assignment = new Assignment.Splits(List.of(new Split("official", parts)));
        return new Dataset(folder, classes, samples, new Dataset.Source("folders", assignment, List.of()));
    }

    /** The same images in several splits: the image at each index in each of them. */
    Dataset divided(SplitPart[]... splits) {
        List<Split> list = new ArrayList<>();
        for (SplitPart[] split : splits) {
            list.add(new Split(Integer.toString(list.size() + 1), Arrays.asList(split)));
        }
        Assignment assignment = new Assignment.Splits(list);
        return new Dataset(folder, classes, samples, new Dataset.Source("folders", assignment, List.of()));
    }

    AuditReport audit(Dataset dataset, int threads) throws IOException, InterruptedException {
        return new Auditor(file -> Objects.requireNonNull(readings.get(file)), threads).of(dataset, _ -> {});
    }

    AuditReport audit() throws IOException, InterruptedException {
        return audit(dataset(), 2);
    }
}
