package org.gramian.backbone.weights;

import static org.gramian.backbone.weights.format.WeightFile.Format.SAFETENSORS;

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
import org.gramian.backbone.weights.format.WeightFile.Format;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/**
 * Names and layouts under which one publisher stores the parameters of one network.
 *
 * <p>Known are torchvision's networks, timm's ViT and ConvNeXt, DINOv2, and Gramian's own names, which for VGG, GoogLeNet and
 * SqueezeNet are those of the authors' Caffe networks.
 *
 * @param publisher source of the weights, with its preprocessing and licence
 * @param formats file formats the publisher uses
 * @param origins tensor of the file for each parameter
 */
record Naming(Publisher publisher, Set<Format> formats, SequencedMap<String, Origin> origins) {
    private static final Set<Format> TORCH = Set.of(Format.TORCH, SAFETENSORS);
    private static final Pattern CONVOLUTION = Pattern.compile("conv(\\d)_(\\d)");
    private static final Pattern FIRE = Pattern.compile("fire(\\d)/(squeeze|expand)(\\dx\\d)");

    /** The three dense layers of VGG: torchvision counts rectifiers and dropouts too. */
    private static final Map<String, Integer> TORCHVISION_DENSE = Map.of("fc6", 0, "fc7", 3, "fc8", 6);

    /** timm counts groups from 0 and has the halving as a part of the group that follows. */
    private static final List<Replacement> TIMM_CONVNEXT = Replacement.list(
            "^features\\.0\\.",
            "stem.",
            "^features\\.1\\.",
            "stages.0.blocks.",
            "^features\\.2\\.",
            "stages.1.downsample.",
            "^features\\.3\\.",
            "stages.1.blocks.",
            "^features\\.4\\.",
            "stages.2.downsample.",
            "^features\\.5\\.",
            "stages.2.blocks.",
            "^features\\.6\\.",
            "stages.3.downsample.",
            "^features\\.7\\.",
            "stages.3.blocks.",
            "layer_scale$",
            "gamma",
            "block\\.0\\.",
            "conv_dw.",
            "block\\.2\\.",
            "norm.",
            "block\\.3\\.",
            "mlp.fc1.",
            "block\\.5\\.",
            "mlp.fc2.",
            "^classifier\\.0",
            "head.norm",
            "^classifier\\.2",
            "head.fc");

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

    /** Returns names that differ by replacements, made one after the other. */
    private static Naming renamed(Publisher publisher, ExpectedParameters blueprint, List<Replacement> replacements) {
        SequencedMap<String, Origin> origins = new LinkedHashMap<>();
        for (String name : blueprint.parameters().keySet()) {
            String theirs = name;
            for (Replacement replacement : replacements) {
                theirs = replacement.pattern.matcher(theirs).replaceFirst(replacement.replacement);
            }
            boolean flat = theirs.endsWith(".gamma") && !publisher.equals(Publisher.OWN_NAMES);
            origins.put(name, new Origin(theirs, flat ? Rearrangement.FLAT : Rearrangement.SAME));
        }
        return new Naming(publisher, TORCH, origins);
    }

    /** A replacement of a part of a name. */
    private record Replacement(Pattern pattern, String replacement) {
        static List<Replacement> list(String... pairs) {
            return IntStream.range(0, pairs.length / 2)
                    .mapToObj(i -> new Replacement(Pattern.compile(pairs[2 * i]), pairs[2 * i + 1]))
                    .toList();
        }
    }

    /** Returns the namings that a weight file of the network may use, own names last. */
    static List<Naming> known(ExpectedParameters blueprint) {
        List<Naming> namings = new ArrayList<>();
        switch (blueprint.architecture()) {
            case "vgg16", "vgg19" -> namings.add(torchvisionVgg(blueprint));
            case "resnet18", "resnet50", "mobilenet_v3_large", "efficientnet_v2_s" ->
                namings.add(same(Publisher.TORCHVISION, blueprint, TORCH));
            case "squeezenet" -> namings.add(torchvisionSqueezeNet(blueprint));
            case "convnext_tiny", "convnext_small", "convnext_base" -> {
                namings.add(renamed(Publisher.TORCHVISION, blueprint, List.of()));
                namings.add(renamed(Publisher.timm(Preprocessing.TORCHVISION), blueprint, TIMM_CONVNEXT));
            }
            case "vit-s16" -> namings.add(renamed(Publisher.timm(Preprocessing.CENTRED), blueprint, List.of()));
            case "vit-b16" -> {
                namings.add(renamed(Publisher.TORCHVISION, blueprint, torchvisionVit("mlp.0", "mlp.3")));
                namings.add(renamed(Publisher.TORCHVISION, blueprint, torchvisionVit("mlp.linear_1", "mlp.linear_2")));
                namings.add(renamed(Publisher.timm(Preprocessing.CENTRED), blueprint, List.of()));
            }
            case "dinov2-vits14", "dinov2-vits14-reg", "dinov2-vitb14", "dinov2-vitb14-reg" ->
                namings.add(renamed(Publisher.DINO_V2, blueprint, List.of()));
            default -> {
                // not published in these formats: own names only
            }
        }
        namings.add(renamed(Publisher.OWN_NAMES, blueprint, List.of()));
        return namings;
    }

    private static Naming same(Publisher publisher, ExpectedParameters blueprint, Set<Format> formats) {
        return of(
                publisher,
                blueprint,
                formats,
                (layer, parameter) -> new Origin(layer + "." + parameter, Rearrangement.SAME));
    }

    /** Returns torchvision's names of ViT; the hidden layers have other names in files written before 0.14. */
    private static List<Replacement> torchvisionVit(String first, String second) {
        return Replacement.list(
                "^patch_embed\\.proj",
                "conv_proj",
                "^cls_token",
                "class_token",
                "^pos_embed",
                "encoder.pos_embedding",
                "^norm\\.",
                "encoder.ln.",
                "^head\\.",
                "heads.head.",
                "^blocks\\.",
                "encoder.layers.encoder_layer_",
                "norm([12])",
                "ln_$1",
                "attn\\.qkv\\.",
                "self_attention.in_proj_",
                "attn\\.proj",
                "self_attention.out_proj",
                "mlp\\.fc1",
                first,
                "mlp\\.fc2",
                second);
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
        /** The same elements as a vector. */
        FLAT;

        /** Returns the shape in the file for a parameter's shape. */
        Shape stored(Shape wanted) {
            return this == FLAT ? Shape.of(wanted.elements()) : wanted;
        }

        /** Returns whether a tensor of a shape can be converted to the parameter. */
        boolean accepts(Shape found, Shape wanted) {
            return found.equals(stored(wanted));
        }

        /** Returns a tensor in the parameter's layout. */
        StoredTensor apply(StoredTensor found, Shape wanted) {
            return new StoredTensor(found.type(), wanted, found.data());
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

        static final Publisher DINO_V2 = of("DINOv2", "DINOv2's .pth", Preprocessing.TORCHVISION, Licence.DINO_V2);

        /** Returns timm, whose licences differ from model to model. */
        static Publisher timm(Preprocessing preprocessing) {
            return new Publisher("timm", "timm's model.safetensors", Optional.of(preprocessing), Optional.empty());
        }

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
