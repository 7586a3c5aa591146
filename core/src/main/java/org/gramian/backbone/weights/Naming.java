package org.gramian.backbone.weights;

import static org.gramian.backbone.weights.format.WeightFile.Format.CAFFE;
import static org.gramian.backbone.weights.format.WeightFile.Format.KERAS;
import static org.gramian.backbone.weights.format.WeightFile.Format.SAFETENSORS;
import static org.gramian.backbone.weights.format.WeightFile.Format.TORCH_LEGACY;
import static org.gramian.backbone.weights.format.WeightFile.Format.TORCH_ZIP;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.gramian.backbone.BackboneInfo.Licence;
import org.gramian.backbone.weights.format.TensorLayout;
import org.gramian.backbone.weights.format.WeightFile.Format;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/**
 * Names and layouts under which one publisher stores the parameters of one network.
 *
 * <p>Known are torchvision's VGG, ResNet and SqueezeNet, Keras' VGG, Caffe's VGG, GoogLeNet and SqueezeNet, and
 * Gramian's own names, which are Caffe's where Caffe has some.
 *
 * @param publisher source of the weights, with its preprocessing and licence
 * @param formats file formats the publisher uses
 * @param origins tensor of the file for each parameter
 */
record Naming(Publisher publisher, Set<Format> formats, SequencedMap<String, Origin> origins) {
    private static final Set<Format> TORCH = Set.of(TORCH_ZIP, TORCH_LEGACY, SAFETENSORS);
    private static final Pattern CONVOLUTION = Pattern.compile("conv(\\d)_(\\d)");
    private static final Pattern FIRE = Pattern.compile("fire(\\d)/(squeeze|expand)(\\dx\\d)");

    /** Rows and columns of VGG's last maps, which its first dense layer reads. */
    private static final long VGG_SIDE = 7;

    /** The three dense layers of VGG: torchvision counts rectifiers and dropouts too. */
    private static final Map<String, Integer> TORCHVISION_DENSE = Map.of("fc6", 0, "fc7", 3, "fc8", 6);

    private static final Map<String, String> KERAS_DENSE = Map.of("fc6", "fc1", "fc7", "fc2", "fc8", "predictions");

    Naming {
        formats = Set.copyOf(formats);
        origins = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(origins));
    }

    /** A tensor of a file: its name and its layout. */
    record Origin(String name, Rearrangement rearrangement) {}

    /** Maps a parameter of a layer, such as {@code weight} of {@code conv1_1}, to its tensor in a file. */
    @FunctionalInterface
    interface Rule {
        Origin origin(String layer, String parameter);
    }

    static Naming of(Publisher publisher, ExpectedParameters blueprint, Set<Format> formats, Rule rule) {
        SequencedMap<String, Origin> origins = new LinkedHashMap<>();
        for (String name : blueprint.parameters().keySet()) {
            int dot = name.lastIndexOf('.');
            origins.put(name, rule.origin(name.substring(0, dot), name.substring(dot + 1)));
        }
        return new Naming(publisher, formats, origins);
    }

    /** Returns the namings that a weight file of the network may use, own names last. */
    static List<Naming> known(ExpectedParameters blueprint) {
        List<Naming> namings = new ArrayList<>();
        switch (blueprint.architecture()) {
            case "vgg16", "vgg19" -> {
                namings.add(torchvisionVgg(blueprint));
                namings.add(kerasVgg(blueprint));
                namings.add(caffe(Publisher.VGG_CAFFE, blueprint));
            }
            case "resnet18", "resnet50" -> namings.add(same(Publisher.TORCHVISION, blueprint, TORCH));
            case "squeezenet" -> {
                namings.add(torchvisionSqueezeNet(blueprint));
                namings.add(caffe(Publisher.DEEPSCALE, blueprint));
            }
            case "googlenet" -> namings.add(caffe(Publisher.BVLC, blueprint));
            default -> {
                // not published in these formats: own names only
            }
        }
        namings.add(same(Publisher.OWN_NAMES, blueprint, TORCH));
        return namings;
    }

    private static Naming same(Publisher publisher, ExpectedParameters blueprint, Set<Format> formats) {
        return of(
                publisher,
                blueprint,
                formats,
                (layer, parameter) -> new Origin(layer + "." + parameter, Rearrangement.SAME));
    }

    private static Naming caffe(Publisher publisher, ExpectedParameters blueprint) {
        return of(
                publisher,
                blueprint,
                Set.of(CAFFE),
                (layer, parameter) -> new Origin(layer + "." + parameter, Rearrangement.LEADING_ONES));
    }

    private static Naming torchvisionVgg(ExpectedParameters blueprint) {
        Map<String, String> layers = new HashMap<>();
        TORCHVISION_DENSE.forEach((layer, index) -> layers.put(layer, "classifier." + index));
        int index = 0;
        String group = "1";
        for (String name : blueprint.parameters().keySet()) {
            Matcher convolution = CONVOLUTION.matcher(name.substring(0, name.lastIndexOf('.')));
            if (convolution.matches() && name.endsWith(".weight")) {
                // A list of modules: each convolution is followed by a rectifier, each group by a pooling.
                index += convolution.group(1).equals(group) ? 0 : 1;
                group = convolution.group(1);
                layers.put(convolution.group(), "features." + index);
                index += 2;
            }
        }
        return of(
                Publisher.TORCHVISION,
                blueprint,
                TORCH,
                (layer, parameter) -> new Origin(
                        Objects.requireNonNull(layers.get(layer), layer) + "." + parameter, Rearrangement.SAME));
    }

    private static Naming kerasVgg(ExpectedParameters blueprint) {
        return of(Publisher.KERAS, blueprint, Set.of(KERAS), (layer, parameter) -> {
            Matcher convolution = CONVOLUTION.matcher(layer);
            boolean dense = !convolution.matches();
            String theirs = dense
                    ? Objects.requireNonNull(KERAS_DENSE.get(layer), layer)
                    : "block" + convolution.group(1) + "_conv" + convolution.group(2);
            if (parameter.equals("bias")) {
                return new Origin(theirs + "/bias", Rearrangement.SAME);
            }
            Rearrangement matrix = layer.equals("fc6") ? Rearrangement.FLATTENED : Rearrangement.DENSE;
            return new Origin(theirs + "/kernel", dense ? matrix : Rearrangement.KERNEL);
        });
    }

    private static Naming torchvisionSqueezeNet(ExpectedParameters blueprint) {
        // A list of modules: a convolution, a rectifier and a pooling, then fires with poolings behind 3 and 5.
        Map<String, Integer> fires = Map.of("2", 3, "3", 4, "4", 6, "5", 7, "6", 9, "7", 10, "8", 11, "9", 12);
        return of(Publisher.TORCHVISION, blueprint, TORCH, (layer, parameter) -> {
            Matcher fire = FIRE.matcher(layer);
            if (fire.matches()) {
                String part = fire.group(2).equals("squeeze") ? "squeeze" : "expand" + fire.group(3);
                return new Origin(
                        "features." + fires.get(fire.group(1)) + "." + part + "." + parameter, Rearrangement.SAME);
            }
            return new Origin(
                    (layer.equals("conv1") ? "features.0" : "classifier.1") + "." + parameter, Rearrangement.SAME);
        });
    }

    /** Returns the tensor of a file that holds a parameter. */
    Origin origin(String parameter) {
        return Objects.requireNonNull(origins.get(parameter), parameter);
    }

    /** Counts the tensors of a file that this naming knows. */
    long matches(Set<String> names) {
        return origins.values().stream()
                .filter(origin -> names.contains(origin.name))
                .count();
    }

    /** Returns the first two tensor names, for messages. */
    List<String> examples() {
        return origins.values().stream().limit(2).map(Origin::name).toList();
    }

    /**
     * Layout of a tensor in a published file relative to Gramian's {@code [out, in, height, width]} and {@code [out,
     * in]}.
     */
    enum Rearrangement {
        /** The same layout. */
        SAME,
        /** The same layout with leading dimensions of size 1: old versions of Caffe write four dimensions always. */
        LEADING_ONES,
        /** Convolution kernel of TensorFlow: {@code [height, width, in, out]}. */
        KERNEL,
        /** Dense matrix of TensorFlow: {@code [in, out]}. */
        DENSE,
        /**
         * First dense matrix of VGG in TensorFlow, {@code [height·width·channels, out]}: it flattens channels last,
         * Gramian channels first.
         */
        FLATTENED;

        /** Returns the shape in the file for a parameter's shape. */
        Shape stored(Shape wanted) {
            return switch (this) {
                case SAME, LEADING_ONES -> wanted;
                case KERNEL -> Shape.of(wanted.at(2), wanted.at(3), wanted.at(1), wanted.at(0));
                case DENSE, FLATTENED -> Shape.of(wanted.at(1), wanted.at(0));
            };
        }

        /** Returns whether a tensor of a shape can be converted to the parameter. */
        boolean accepts(Shape found, Shape wanted) {
            int extra = found.rank() - wanted.rank();
            return switch (this) {
                case LEADING_ONES ->
                    extra >= 0
                            && IntStream.range(0, found.rank())
                                    .allMatch(i -> found.at(i) == (i < extra ? 1 : wanted.at(i - extra)));
                case FLATTENED -> wanted.at(1) % (VGG_SIDE * VGG_SIDE) == 0 && found.equals(stored(wanted));
                default -> found.equals(stored(wanted));
            };
        }

        /** Converts a tensor to the parameter's layout: the same memory if possible, else a copy in the arena. */
        StoredTensor apply(StoredTensor found, Shape wanted, Arena arena) {
            StoredTensor taken = layout(wanted).take(found.type(), found.data(), arena);
            return new StoredTensor(found.type(), wanted, taken.data());
        }

        /** Returns the strides of the file in the order of the parameter; sizes may split a dimension. */
        TensorLayout layout(Shape wanted) {
            long out = wanted.at(0);
            return switch (this) {
                case SAME, LEADING_ONES -> new TensorLayout(0, List.of(wanted.elements()), List.of(1L));
                case KERNEL -> {
                    long in = wanted.at(1);
                    yield new TensorLayout(
                            0,
                            List.of(out, in, wanted.at(2), wanted.at(3)),
                            List.of(1L, out, wanted.at(3) * in * out, in * out));
                }
                case DENSE -> new TensorLayout(0, List.of(out, wanted.at(1)), List.of(1L, out));
                case FLATTENED -> {
                    long channels = wanted.at(1) / (VGG_SIDE * VGG_SIDE);
                    yield new TensorLayout(
                            0,
                            List.of(out, channels, VGG_SIDE, VGG_SIDE),
                            List.of(1L, out, VGG_SIDE * channels * out, channels * out));
                }
            };
        }
    }

    /**
     * Publisher of weights, which determines preprocessing and licence.
     *
     * @param label name for messages, such as {@code torchvision}
     * @param file description of the published file, such as {@code torchvision's .pth}
     * @param preprocessing preprocessing of images; empty if only the file can state it
     * @param licence licence of the weights; empty if only the file can state it
     */
    record Publisher(String label, String file, Optional<Preprocessing> preprocessing, Optional<String> licence) {
        static final Publisher TORCHVISION =
                of("torchvision", "torchvision's .pth", Preprocessing.TORCHVISION, Licence.TORCHVISION);
        static final Publisher KERAS = of("Keras", "Keras' .h5", Preprocessing.VGG_CAFFE, Licence.VGG_AUTHORS);
        static final Publisher VGG_CAFFE = of(
                "Caffe (VGG group, Oxford)", "the authors' .caffemodel", Preprocessing.VGG_CAFFE, Licence.VGG_AUTHORS);
        static final Publisher BVLC = of(
                "Caffe (BVLC)",
                "bvlc_googlenet.caffemodel of the BVLC Caffe model zoo",
                Preprocessing.CAFFE,
                Licence.BVLC);
        static final Publisher DEEPSCALE =
                of("Caffe (DeepScale)", "squeezenet_v1.1.caffemodel", Preprocessing.CAFFE, Licence.DEEPSCALE);

        /** File with Gramian's own names: only the file can state more. */
        static final Publisher OWN_NAMES =
                new Publisher("Gramian's tensor names", "a .safetensors file", Optional.empty(), Optional.empty());

        /** Returns this publisher without a licence, for a file that is recognized by its names only. */
        Publisher supposed() {
            return new Publisher(label, file, preprocessing, Optional.empty());
        }

        private static Publisher of(String label, String file, Preprocessing preprocessing, Licence licence) {
            return new Publisher(label, file, Optional.of(preprocessing), Optional.of(licence.text()));
        }
    }
}
