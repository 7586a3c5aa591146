package org.gramian.backbone.onnx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Short names of tensors, to be typed as layers.
 *
 * <p>PyTorch names tensors by module and operator, {@code /layer1/layer1.0/relu_1/Relu_output_0}. The slashes become
 * dots, a module that the next one repeats is dropped, and so is the operator if its module has no other one after {@link
 * Fusion}: {@code layer1.0.relu_1}. Of several, as in {@code /encoder/block/Add_1_output_0}, the operator stays in lower case:
 * {@code encoder.block.add_1}. A number, the name that older exporters give, is preceded by the operator: {@code
 * relu_489}. Other characters than letters, digits, {@code .}, {@code -} and {@code _} become {@code _}; equal names are
 * numbered.
 */
final class LayerNames {
    private static final Pattern SUFFIX = Pattern.compile("(_output_\\d+|:\\d+)$");
    private static final Pattern OTHER = Pattern.compile("[^A-Za-z0-9_.-]");
    private static final Pattern NUMBER = Pattern.compile("[0-9.]+");

    private LayerNames() {}

    /** Returns the names of tensors in the file by short name, in the order of the graph. */
    static SequencedMap<String, String> of(OnnxGraph graph) {
        Map<String, Integer> modules = new HashMap<>();
        Set<String> kept = new HashSet<>();
        for (OnnxNode node : Fusion.fused(graph)) {
            for (String tensor : node.outputs()) {
                List<String> parts = parts(tensor);
                modules.merge(String.join(".", parts.subList(0, parts.size() - 1)), 1, Integer::sum);
                kept.add(tensor);
            }
        }
        SequencedMap<String, String> tensors = new LinkedHashMap<>();
        for (OnnxNode node : graph.nodes()) {
            for (String tensor : node.outputs()) {
                String wanted = tidy(tensor, node.operator(), kept.contains(tensor) ? modules : Map.of());
                String name = wanted;
                for (int i = 2; tensors.containsKey(name); i++) {
                    name = wanted + "_" + i;
                }
                tensors.put(name, tensor);
            }
        }
        return tensors;
    }

    private static String tidy(String tensor, String operator, Map<String, Integer> modules) {
        List<String> parts = parts(tensor);
        String module = String.join(".", parts.subList(0, parts.size() - 1));
        String last = parts.getLast();
        String name;
        if (module.isEmpty()) {
            String lower = last.startsWith(operator) ? last.toLowerCase(Locale.ROOT) : last;
            name = NUMBER.matcher(last).matches() ? operator.toLowerCase(Locale.ROOT) + "_" + last : lower;
        } else {
            name = modules.getOrDefault(module, 0) == 1 ? module : module + "." + last.toLowerCase(Locale.ROOT);
        }
        String typed = OTHER.matcher(name).replaceAll("_");
        return typed.isEmpty() ? operator.toLowerCase(Locale.ROOT) : typed;
    }

    private static List<String> parts(String tensor) {
        List<String> parts = new ArrayList<>();
        String[] all = SUFFIX.matcher(tensor).replaceFirst("").split("/", -1);
        for (int i = 0; i < all.length; i++) {
            boolean repeated = i + 1 < all.length && all[i + 1].startsWith(all[i] + ".");
            if (!all[i].isEmpty() && !repeated) {
                parts.add(all[i]);
            }
        }
        return parts.isEmpty() ? List.of("") : parts;
    }
}
