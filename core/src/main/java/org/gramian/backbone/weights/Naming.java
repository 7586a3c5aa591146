package org.gramian.backbone.weights;

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
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.backbone.BackboneInfo.Licence;
import org.gramian.image.crop.Preprocessing;

/**
 * Names under which one publisher stores the parameters of one network.
 *
 * <p>Known are torchvision's networks, timm's ViT and ConvNeXt, DINOv2, and Gramian's own names, which for VGG, GoogLeNet and
 * SqueezeNet are those of the authors' Caffe networks.
 */
record Naming(Publisher publisher, SequencedMap<String, String> names) {
    private static final Pattern CONVOLUTION = Pattern.compile("conv(\\d)_(\\d)");
    private static final Pattern FIRE = Pattern.compile("fire(\\d)/(squeeze|expand)(\\dx\\d)");

    /** The three dense layers of VGG: torchvision counts rectifiers and dropouts too. */
    private static final Map<String, Integer> TORCHVISION_DENSE = Map.of("fc6", 0, "fc7", 3, "fc8", 6);

    /** timm counts groups from 0 and has the halving as a part of the group that follows. */
    private static final List<Replacement> TIMM_CONVNEXT = Replacement.list("""
        ^features\\.0\\. stem.
        ^features\\.1\\. stages.0.blocks.
        ^features\\.2\\. stages.1.downsample.
        ^features\\.3\\. stages.1.blocks.
        ^features\\.4\\. stages.2.downsample.
        ^features\\.5\\. stages.2.blocks.
        ^features\\.6\\. stages.3.downsample.
        ^features\\.7\\. stages.3.blocks.
        layer_scale$ gamma
        block\\.0\\. conv_dw.
        block\\.2\\. norm.
        block\\.3\\. mlp.fc1.
        block\\.5\\. mlp.fc2.
        ^classifier\\.0 head.norm
        ^classifier\\.2 head.fc
        """);

    private static final String TORCHVISION_VIT = """
        ^patch_embed\\.proj conv_proj
        ^cls_token class_token
        ^pos_embed encoder.pos_embedding
        ^norm\\. encoder.ln.
        ^head\\. heads.head.
        ^blocks\\. encoder.layers.encoder_layer_
        norm([12]) ln_$1
        attn\\.qkv\\. self_attention.in_proj_
        attn\\.proj self_attention.out_proj
        """;

    Naming {
        names = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(names));
    }

    private static Naming of(Publisher publisher, ExpectedParameters expected, UnaryOperator<String> name) {
        SequencedMap<String, String> names = new LinkedHashMap<>();
        expected.parameters().keySet().forEach(parameter -> names.put(parameter, name.apply(parameter)));
        return new Naming(publisher, names);
    }

    private static Naming same(Publisher publisher, ExpectedParameters expected) {
        return of(publisher, expected, UnaryOperator.identity());
    }

    /** Returns names that differ by replacements, made one after the other. */
    private static Naming renamed(Publisher publisher, ExpectedParameters expected, List<Replacement> replacements) {
        return of(publisher, expected, parameter -> {
            String name = parameter;
            for (Replacement replacement : replacements) {
                name = replacement.pattern.matcher(name).replaceFirst(replacement.replacement);
            }
            return name;
        });
    }

    private record Replacement(Pattern pattern, String replacement) {
        /** Reads a pattern and its replacement from each line. */
        static List<Replacement> list(String table) {
            return table.lines()
                    .map(line -> line.split(" ", -1))
                    .map(pair -> new Replacement(Pattern.compile(pair[0]), pair[1]))
                    .toList();
        }
    }

    /** Returns the namings that a weight file of the network may use, own names last. */
    static List<Naming> known(ExpectedParameters expected) {
        List<Naming> namings = new ArrayList<>();
        switch (expected.architecture()) {
            case "vgg16", "vgg19" -> namings.add(torchvisionVgg(expected));
            case "resnet18", "resnet50", "mobilenet_v3_large", "efficientnet_v2_s" ->
                namings.add(same(Publisher.TORCHVISION, expected));
            case "squeezenet" -> namings.add(torchvisionSqueezeNet(expected));
            case "convnext_tiny", "convnext_small", "convnext_base" -> {
                namings.add(same(Publisher.TORCHVISION, expected));
                namings.add(renamed(Publisher.timm(Preprocessing.TORCHVISION), expected, TIMM_CONVNEXT));
            }
            case "vit-s16" -> namings.add(same(Publisher.timm(Preprocessing.CENTRED), expected));
            case "vit-b16" -> {
                namings.add(renamed(Publisher.TORCHVISION, expected, torchvisionVit("mlp.0", "mlp.3")));
                namings.add(renamed(Publisher.TORCHVISION, expected, torchvisionVit("mlp.linear_1", "mlp.linear_2")));
                namings.add(same(Publisher.timm(Preprocessing.CENTRED), expected));
            }
            case "dinov2-vits14", "dinov2-vits14-reg", "dinov2-vitb14", "dinov2-vitb14-reg" ->
                namings.add(same(Publisher.DINO_V2, expected));
            default -> {
                // not published in these formats: own names only
            }
        }
        namings.add(same(Publisher.OWN_NAMES, expected));
        return namings;
    }

    /** Returns torchvision's names of ViT; the hidden layers have other names in files written before 0.14. */
    private static List<Replacement> torchvisionVit(String first, String second) {
        return Replacement.list(TORCHVISION_VIT + "mlp\\.fc1 " + first + "\nmlp\\.fc2 " + second);
    }

    private static Naming torchvisionVgg(ExpectedParameters expected) {
        Map<String, String> layers = new HashMap<>();
        TORCHVISION_DENSE.forEach((layer, index) -> layers.put(layer, "classifier." + index));
        int index = 0;
        String group = "1";
        for (String name : expected.parameters().keySet()) {
            Matcher convolution = CONVOLUTION.matcher(name.substring(0, name.lastIndexOf('.')));
            if (convolution.matches() && name.endsWith(".weight")) {
                // A list of modules: each convolution is followed by a rectifier, each group by a pooling.
                index += convolution.group(1).equals(group) ? 0 : 1;
                group = convolution.group(1);
                layers.put(convolution.group(), "features." + index);
                index += 2;
            }
        }
        return ofLayers(expected, layer -> Objects.requireNonNull(layers.get(layer), layer));
    }

    /** Returns torchvision's names from those of layers; the part after the last dot is the same. */
    private static Naming ofLayers(ExpectedParameters expected, UnaryOperator<String> layer) {
        return of(Publisher.TORCHVISION, expected, name -> {
            int dot = name.lastIndexOf('.');
            return layer.apply(name.substring(0, dot)) + name.substring(dot);
        });
    }

    private static Naming torchvisionSqueezeNet(ExpectedParameters expected) {
        // A list of modules: a convolution, a rectifier and a pooling, then fires with poolings behind 3 and 5.
        Map<String, Integer> fires = Map.of("2", 3, "3", 4, "4", 6, "5", 7, "6", 9, "7", 10, "8", 11, "9", 12);
        return ofLayers(expected, layer -> {
            Matcher fire = FIRE.matcher(layer);
            if (!fire.matches()) {
                return layer.equals("conv1") ? "features.0" : "classifier.1";
            }
            String part = fire.group(2).equals("squeeze") ? "squeeze" : "expand" + fire.group(3);
            return "features." + fires.get(fire.group(1)) + "." + part;
        });
    }

    /** Returns the tensor of a file that holds a parameter. */
    String of(String parameter) {
        return Objects.requireNonNull(names.get(parameter), parameter);
    }

    /** Counts the tensors of a file that this naming knows. */
    long matches(Set<String> found) {
        return names.values().stream().filter(found::contains).count();
    }

    /**
     * Publisher of weights, which determines preprocessing and licence.
     *
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
