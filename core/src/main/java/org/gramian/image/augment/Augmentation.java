package org.gramian.image.augment;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.gramian.basis.KeyedRandom;
import org.gramian.basis.NamedArguments;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.image.augment.CropParameters.Rectangle;

/**
 * Augmentation policy for training images, written {@code NAME[+PART:VALUE]...}, as {@code standard+erase:0.25+randaugment:2}.
 *
 * <p>Random resized crop: with {@code s ~ U(scale, 1)} and {@code a ~ U(−aspect, aspect)} the crop has the sides {@code
 * √s·e^(a/2)·m} and {@code √s·e^(−a/2)·m}, cut to the image, at a uniform place. m is the image's short side, so that an object
 * keeps its aspect up to {@code e^a}; where images are squeezed to a square ({@link Geometry#squeezed}) it is width and height
 * themselves. RandAugment (Cubuk et al., 2020) adds operations of {@link Operation}; random erasing (Zhong et al., 2020) a
 * rectangle of 2 to 33 % of the crop.
 *
 * @param contrast factor of {@code 1 ± contrast}
 * @param brightness summand of {@code ± brightness}, in parts of 255
 * @param saturation factor of {@code 1 ± saturation}
 */
public record Augmentation(
        double scale,
        double aspect,
        double flip,
        double contrast,
        double brightness,
        double saturation,
        int operations,
        double erase) {
    private static final List<String> PARTS =
            List.of("scale", "aspect", "flip", "contrast", "brightness", "saturation", "randaugment", "erase");

    /** Largest value of each part; the least is 0, of the scale above 0. */
    private static final int[] LARGEST = {1, 2, 1, 1, 1, 1, 8, 1};

    /** Crops as the crop plan has them, unchanged. */
    public static final Augmentation NONE = new Augmentation(1, 0, 0, 0, 0, 0, 0, 0);

    /** Mild crops, flips and light. */
    public static final Augmentation LIGHT = new Augmentation(0.6, 0, 0.5, 0.1, 0.1, 0, 0, 0);

    /** Random resized crops, flips and colours: fine-tuning as usual. */
    public static final Augmentation STANDARD = new Augmentation(0.3, 0.29, 0.5, 0.3, 0.1, 0.2, 0, 0);

    /** With RandAugment and random erasing, for long fine-tuning. */
    public static final Augmentation STRONG = new Augmentation(0.2, 0.29, 0.5, 0.3, 0.1, 0.2, 2, 0.25);

    private static final Map<String, Augmentation> POLICIES = policies();
    private static final List<String> FORMS =
            PARTS.stream().map(part -> part + ":VALUE").toList();
    private static final List<Operation> OPERATIONS = List.of(Operation.values());

    /** Operations of RandAugment, each with a magnitude from −1 to 1. */
    private enum Operation {
        ROTATE, // by up to 15 degrees
        SHEAR_X, // by up to 0.2
        SHEAR_Y,
        CONTRAST, // by a factor of 1 ± 0.5
        SATURATION, // by a factor of 1 ± 0.9
        SHARPNESS,
        POSTERIZE, // to 4 to 7 bits
        SOLARIZE // from a byte between 128 and 255 on
    }

    /** Key of the random numbers of one crop. */
    public record Draw(long seed, long epoch, int image) {}

    /** Size of a stored image. */
    public record Geometry(int width, int height, boolean squeezed) {}

    /** @throws IllegalArgumentException if a part is out of its range */
    public Augmentation {
        double[] values = {scale, aspect, flip, contrast, brightness, saturation, operations, erase};
        for (int i = 0; i < values.length; i++) {
            if (!(values[i] >= 0 && values[i] <= LARGEST[i]) || scale == 0) {
                throw new IllegalArgumentException("augmentation '" + PARTS.get(i) + "': expected a number from 0 to "
                        + LARGEST[i] + ", a scale above 0, found " + NamedArguments.decimal(values[i]));
            }
        }
    }

    private static Map<String, Augmentation> policies() {
        Map<String, Augmentation> policies = new LinkedHashMap<>();
        policies.put("none", NONE);
        policies.put("light", LIGHT);
        policies.put("standard", STANDARD);
        policies.put("strong", STRONG);
        return policies;
    }

    public static List<String> names() {
        return List.copyOf(POLICIES.keySet());
    }

    /** Reads {@code NAME[+PART:VALUE]...}. */
    public static Augmentation parse(String text) {
        String[] parts = text.split("\\+", -1);
        Augmentation policy = POLICIES.get(parts[0]);
        if (policy == null) {
            throw new IllegalArgumentException("expected NAME[+PART:VALUE]... with NAME one of "
                    + String.join(", ", names()) + ", found " + QuotedText.text(text)
                    + NearestWord.suggestion(parts[0], names()));
        }
        Set<String> seen = new HashSet<>();
        for (int i = 1; i < parts.length; i++) {
            NamedArguments part = NamedArguments.parse("part", parts[i], FORMS);
            if (!seen.add(part.name())) {
                throw new IllegalArgumentException(
                        "expected each part once, found '" + part.name() + "' twice in " + QuotedText.text(text));
            }
            boolean whole = part.name().equals("randaugment");
            policy = policy.with(part.name(), whole ? part.integer("value", -1) : part.number("value"));
            part.requireAllUsed();
        }
        return policy;
    }

    private double[] values() {
        return new double[] {scale, aspect, flip, contrast, brightness, saturation, operations, erase};
    }

    private Augmentation with(String part, double value) {
        double[] v = values();
        v[PARTS.indexOf(part)] = value;
        return new Augmentation(v[0], v[1], v[2], v[3], v[4], v[5], (int) v[6], v[7]);
    }

    /** Returns the form that {@link #parse} reads: the nearest policy and the parts in which it differs. */
    public String text() {
        return POLICIES.entrySet().stream()
                .map(policy -> {
                    List<String> words = new ArrayList<>(List.of(policy.getKey()));
                    double[] usual = policy.getValue().values();
                    double[] values = values();
                    for (int i = 0; i < values.length; i++) {
                        if (values[i] != usual[i]) {
                            words.add(PARTS.get(i) + ":" + NamedArguments.decimal(values[i]));
                        }
                    }
                    return words;
                })
                .min(Comparator.comparingInt(List::size))
                .map(words -> String.join("+", words))
                .orElseThrow();
    }

    /** Whether images are used as the crop plan has them. */
    public boolean isNone() {
        return equals(NONE);
    }

    /** Draws the parameters of a crop; they follow from the key, the geometry and the size alone. */
    public CropParameters draw(Draw key, Geometry image, int size) {
        return new Drawing(KeyedRandom.of(key.seed, key.epoch, key.image), size).draw(image);
    }

    /** One crop while its parameters are drawn; every part takes its numbers from the generator in the same order. */
    private final class Drawing {
        private final SplittableRandom random;
        private final int size;
        /** Rotation and shear about the crop's centre. */
        private double a = 1;

        private double b;
        private double c;
        private double d = 1;

        private double contrastFactor;
        private double saturationFactor;
        private double sharpness = 1;
        private int bits = 8;
        private int solarize = 256;

        Drawing(SplittableRandom random, int size) {
            this.random = random;
            this.size = size;
        }

        CropParameters draw(Geometry image) {
            int shorter = Math.min(image.width, image.height);
            double side = Math.sqrt(scale + (1 - scale) * random.nextDouble());
            double ratio = StrictMath.exp(aspect * signed() / 2);
            double width = Math.min(image.width, side * ratio * (image.squeezed ? image.width : shorter));
            double height = Math.min(image.height, side / ratio * (image.squeezed ? image.height : shorter));
            double centreX = width / 2 + random.nextDouble() * (image.width - width);
            double centreY = height / 2 + random.nextDouble() * (image.height - height);
            double mirror = random.nextDouble() < flip ? -1 : 1;
            contrastFactor = 1 + contrast * signed();
            double light = 255 * brightness * signed();
            saturationFactor = 1 + saturation * signed();
            Rectangle erased = erased();
            for (int i = 0; i < operations; i++) {
                operate(OPERATIONS.get(random.nextInt(OPERATIONS.size())), signed());
            }
            double xx = width * a * mirror;
            double xy = width * b;
            double yx = height * c * mirror;
            double yy = height * d;
            return new CropParameters(
                    new CropParameters.Affine(
                            (float) (xx / size),
                            (float) (xy / size),
                            (float) (centreX - (xx + xy) / 2),
                            (float) (yx / size),
                            (float) (yy / size),
                            (float) (centreY - (yx + yy) / 2)),
                    new CropParameters.Colours(
                            (float) contrastFactor,
                            (float) light,
                            (float) saturationFactor,
                            (float) sharpness,
                            0xff & (0xff << (8 - bits)),
                            solarize),
                    erased);
        }

        private double signed() {
            return 2 * random.nextDouble() - 1;
        }

        private Rectangle erased() {
            boolean wanted = random.nextDouble() < erase;
            double area = (0.02 + (1.0 / 3 - 0.02) * random.nextDouble()) * size * size;
            double ratio = StrictMath.exp(StrictMath.log(10.0 / 3) * signed() / 2);
            int width = Math.clamp(Math.round(Math.sqrt(area) * ratio), 1, size);
            int height = Math.clamp(Math.round(Math.sqrt(area) / ratio), 1, size);
            int left = (int) (random.nextDouble() * (size - width + 1));
            int top = (int) (random.nextDouble() * (size - height + 1));
            return wanted ? new Rectangle(left, top, left + width, top + height) : Rectangle.NONE;
        }

        private void operate(Operation operation, double magnitude) {
            switch (operation) {
                case ROTATE -> {
                    double angle = StrictMath.toRadians(15 * magnitude);
                    turn(StrictMath.cos(angle), -StrictMath.sin(angle), StrictMath.sin(angle), StrictMath.cos(angle));
                }
                case SHEAR_X -> turn(1, 0.2 * magnitude, 0, 1);
                case SHEAR_Y -> turn(1, 0, 0.2 * magnitude, 1);
                case CONTRAST -> contrastFactor *= 1 + 0.5 * magnitude;
                case SATURATION -> saturationFactor *= 1 + 0.9 * magnitude;
                case SHARPNESS -> sharpness *= 1 + 0.9 * magnitude;
                case POSTERIZE -> bits = Math.min(bits, 4 + (int) (2 * (magnitude + 1) * 0.999));
                case SOLARIZE -> solarize = Math.min(solarize, 192 + (int) (63 * magnitude));
            }
        }

        private void turn(double e, double f, double g, double h) {
            double first = a * e + b * g;
            double second = a * f + b * h;
            double third = c * e + d * g;
            d = c * f + d * h;
            a = first;
            b = second;
            c = third;
        }
    }

    @Override
    public String toString() {
        return text();
    }
}
