package org.gramian.backbone.weights;

import static org.gramian.backbone.weights.format.WeightFormat.CAFFE;
import static org.gramian.backbone.weights.format.WeightFormat.KERAS;
import static org.gramian.backbone.weights.format.WeightFormat.SAFETENSORS;
import static org.gramian.backbone.weights.format.WeightFormat.TORCH_LEGACY;
import static org.gramian.backbone.weights.format.WeightFormat.TORCH_ZIP;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.backbone.weights.Naming.Origin;
import org.gramian.backbone.weights.format.WeightFormat;

/**
 * The publishers' names for the parameters of each network: torchvision's VGG, ResNet and SqueezeNet, Keras' VGG, Caffe's
 * VGG, GoogLeNet and SqueezeNet, and the names of this program, which are Caffe's where there were some.
 */
final class Namings {
    private static final Set<WeightFormat> TORCH = Set.of(TORCH_ZIP, TORCH_LEGACY, SAFETENSORS);
    private static final Rearrangement SAME = new Rearrangement.None();
    private static final Pattern CONVOLUTION = Pattern.compile("conv(\\d)_(\\d)");
    private static final Pattern FIRE = Pattern.compile("fire(\\d)/(squeeze|expand)(\\dx\\d)");

    /** Rows and columns of VGG's last maps, which its first dense layer reads. */
    private static final int VGG_SIDE = 7;

    /** The three dense layers of VGG: torchvision counts rectifiers and dropouts too. */
    private static final Map<String, Integer> TORCHVISION_DENSE = Map.of("fc6", 0, "fc7", 3, "fc8", 6);

    private static final Map<String, String> KERAS_DENSE = Map.of("fc6", "fc1", "fc7", "fc2", "fc8", "predictions");

    private Namings() {}

    /** All that a file for the network may use. */
    static List<Naming> of(ExpectedParameters blueprint) {
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
                // published by nobody in these formats: the names of this program alone
            }
        }
        namings.add(same(Publisher.OWN_NAMES, blueprint, TORCH));
        return namings;
    }

    private static Naming same(Publisher publisher, ExpectedParameters blueprint, Set<WeightFormat> formats) {
        return Naming.of(
                publisher, blueprint, formats, (layer, parameter) -> new Origin(layer + "." + parameter, SAME));
    }

    private static Naming caffe(Publisher publisher, ExpectedParameters blueprint) {
        Rearrangement leadingOnes = new Rearrangement.LeadingOnes();
        return Naming.of(
                publisher,
                blueprint,
                Set.of(CAFFE),
                (layer, parameter) -> new Origin(layer + "." + parameter, leadingOnes));
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
        return Naming.of(
                Publisher.TORCHVISION,
                blueprint,
                TORCH,
                (layer, parameter) ->
                        new Origin(Objects.requireNonNull(layers.get(layer), layer) + "." + parameter, SAME));
    }

    private static Naming kerasVgg(ExpectedParameters blueprint) {
        return Naming.of(Publisher.KERAS, blueprint, Set.of(KERAS), (layer, parameter) -> {
            Matcher convolution = CONVOLUTION.matcher(layer);
            boolean dense = !convolution.matches();
            String theirs = dense
                    ? Objects.requireNonNull(KERAS_DENSE.get(layer), layer)
                    : "block" + convolution.group(1) + "_conv" + convolution.group(2);
            if (parameter.equals("bias")) {
                return new Origin(theirs + "/bias", SAME);
            }
            Rearrangement matrix =
                    layer.equals("fc6") ? new Rearrangement.Flattened(VGG_SIDE) : new Rearrangement.Dense();
            return new Origin(theirs + "/kernel", dense ? matrix : new Rearrangement.Kernel());
        });
    }

    private static Naming torchvisionSqueezeNet(ExpectedParameters blueprint) {
        // A list of modules: a convolution, a rectifier and a pooling, then fires with poolings behind 3 and 5.
        Map<String, Integer> fires = Map.of("2", 3, "3", 4, "4", 6, "5", 7, "6", 9, "7", 10, "8", 11, "9", 12);
        return Naming.of(Publisher.TORCHVISION, blueprint, TORCH, (layer, parameter) -> {
            Matcher fire = FIRE.matcher(layer);
            if (fire.matches()) {
                String part = fire.group(2).equals("squeeze") ? "squeeze" : "expand" + fire.group(3);
                return new Origin("features." + fires.get(fire.group(1)) + "." + part + "." + parameter, SAME);
            }
            return new Origin((layer.equals("conv1") ? "features.0" : "classifier.1") + "." + parameter, SAME);
        });
    }
}
