package org.gramian.cli.common;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.crop.Preprocessing.Order;
import org.gramian.tensor.library.CacheFolder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Folder of installed weights, and preprocessing of a network in an ONNX file. */
public final class InputOptions {
    /** OpenAI's CLIP: mean and standard deviation of its training images. */
    private static final Preprocessing CLIP = fractions(
            Order.RGB, List.of(0.48145466, 0.4578275, 0.40821073), List.of(0.26862954, 0.26130258, 0.27577711));

    private static final Preprocessing RAW = new Preprocessing(Order.RGB, three(0), three(1));

    private static final double BYTE = 255;
    private static final String NUMBERS = "(\\d[\\d.,]*?)";
    private static final Pattern FORM =
            Pattern.compile("(?:(rgb|bgr)[ ,])?mean=" + NUMBERS + "[ ,]std=" + NUMBERS, Pattern.CASE_INSENSITIVE);

    @Mixin
    private final WeightsFolder weights = new WeightsFolder();

    @Option(
            names = "--input",
            paramLabel = "SPEC",
            description =
                    "preprocessing of FILE.onnx: imagenet, clip, raw or mean=R,G,B,std=R,G,B (default: the file's,"
                            + " else imagenet)")
    private @Nullable String input;

    public WeightStore store() {
        return weights.store();
    }

    /** Returns the import of ONNX files into the folder of weights. */
    public OnnxImport onnx(Consumer<String> remarks) {
        return importer(store(), remarks);
    }

    private OnnxImport importer(WeightStore store, Consumer<String> remarks) {
        return new OnnxImport(store, Optional.ofNullable(input).map(InputOptions::parse), remarks);
    }

    /** Rejects {@code --input} for weights that state their own preprocessing. */
    public void requireInputFor(String nameOrFile) {
        if (input != null && !WeightStore.isOnnx(nameOrFile)) {
            throw new IllegalArgumentException(
                    "--input: expected an ONNX file, found '" + nameOrFile + "', which states its own");
        }
    }

    /**
     * Returns the value of a backbone option for settings. An ONNX file is converted into the cache, not into the folder of weights:
     * nothing is known of its training.
     */
    public String resolve(String nameOrFile, Consumer<String> remarks) throws IOException {
        requireInputFor(nameOrFile);
        return WeightStore.isOnnx(nameOrFile)
                ? importer(new WeightStore(CacheFolder.ofProcess().resolve(WeightStore.CONVERTED)), remarks)
                        .convert(Path.of(nameOrFile))
                : onnx(remarks).resolve(nameOrFile);
    }

    /** Parses a preprocessing. Means and standard deviations of at most 1 are fractions of 255. */
    static Preprocessing parse(String text) {
        Matcher form = FORM.matcher(text.strip());
        try {
            return switch (text.strip().toLowerCase(Locale.ROOT)) {
                case "imagenet" -> Preprocessing.TORCHVISION;
                case "clip" -> CLIP;
                case "raw" -> RAW;
                default -> {
                    if (!form.matches()) {
                        throw new IllegalArgumentException("no such form");
                    }
                    Order order = form.group(1) == null
                            ? Order.RGB
                            : Order.valueOf(form.group(1).toUpperCase(Locale.ROOT));
                    yield of(order, numbers(form.group(2)), numbers(form.group(3)));
                }
            };
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    "--input: expected imagenet, clip, raw, or e.g. mean=0.485,0.456,0.406,std=0.229,0.224,0.225,"
                            + " found '"
                            + text + "'",
                    wrong);
        }
    }

    /**
     * Returns the preprocessing that the metadata of an ONNX file state: Gramian's text, or the pixel range and format
     * of ONNX's standard keys for images.
     *
     * @see <a href="https://github.com/onnx/onnx/blob/main/docs/MetadataProps.md">the standard keys</a>
     */
    static Optional<Preprocessing> stated(Map<String, String> metadata) {
        for (String key : List.of("input", "preprocessing", "gramian.preprocessing")) {
            try {
                return Optional.of(Preprocessing.parse(metadata.getOrDefault(key, "")));
            } catch (IllegalArgumentException other) {
                // the next key
            }
        }
        Order order = metadata.getOrDefault("Image.BitmapPixelFormat", "").startsWith("Bgr") ? Order.BGR : Order.RGB;
        return switch (metadata.getOrDefault("Image.NominalPixelRange", "")) {
            case "NominalRange_0_255" -> Optional.of(new Preprocessing(order, three(0), three(1)));
            case "Normalized_0_1" -> Optional.of(new Preprocessing(order, three(0), three(BYTE)));
            case "Normalized_1_1" -> Optional.of(new Preprocessing(order, three(BYTE / 2), three(BYTE / 2)));
            default -> Optional.empty();
        };
    }

    private static Preprocessing of(Order order, List<Double> mean, List<Double> std) {
        boolean small =
                mean.stream().allMatch(value -> value <= 1) && std.stream().allMatch(value -> value <= 1);
        return small ? fractions(order, mean, std) : new Preprocessing(order, mean, std);
    }

    private static Preprocessing fractions(Order order, List<Double> mean, List<Double> std) {
        return new Preprocessing(order, bytes(mean), bytes(std));
    }

    private static List<Double> bytes(List<Double> fractions) {
        return fractions.stream()
                .map(value -> Math.rint(value * BYTE * 1e6) / 1e6) // 123.675 instead of 123.67499999999998
                .toList();
    }

    private static List<Double> numbers(String list) {
        List<Double> numbers =
                Arrays.stream(list.split(",", -1)).map(Double::valueOf).toList();
        return numbers.size() == 1 ? three(numbers.getFirst()) : numbers;
    }

    private static List<Double> three(double value) {
        return Collections.nCopies(3, value);
    }

    /** The option {@code --weights-dir} alone. */
    public static final class WeightsFolder {
        @Option(
                names = "--weights-dir",
                paramLabel = "DIR",
                description = "folder of weights (default: GRAMIAN_WEIGHTS, else 'weights' in the cache folder)")
        private @Nullable Path folder;

        public WeightStore store() {
            return folder == null ? WeightStore.ofProcess() : new WeightStore(folder);
        }
    }
}
