package org.gramian.backbone.weights;

import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.Backbones;
import org.gramian.basis.NearestWord;

/**
 * Name of weights: the network, optionally with a variant after a hyphen, such as {@code vgg16}, {@code resnet50-v2} or
 * {@code vgg16-mine}.
 *
 * @param text whole name, also of the file in the store
 */
public record WeightName(String text, String architecture) {
    private static final Pattern FORM = Pattern.compile("[a-z0-9][a-z0-9._-]{0,63}");

    public static List<String> architectures() {
        return Backbones.all().stream()
                .filter(backbone -> backbone.about().weights().needed())
                .map(Backbone::name)
                .toList();
    }

    public static WeightName parse(String text) {
        if (Backbones.names().contains(text) && !architectures().contains(text)) {
            throw new IllegalArgumentException("the backbone '" + text + "' needs no weights");
        }
        if (!isWellFormed(text)) {
            throw new IllegalArgumentException(
                    "expected a name of lower-case letters, digits, '.', '_' and '-', e.g. vgg16 or vgg16-mine, found '"
                            + text.codePoints()
                                    .limit(64)
                                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                            + "'");
        }
        return architectures().stream()
                .filter(known -> text.equals(known) || text.startsWith(known + "-"))
                .max(Comparator.comparingInt(String::length))
                .map(known -> new WeightName(text, known))
                .orElseThrow(() -> new IllegalArgumentException("unknown weights '" + text + "'"
                        + NearestWord.suggestion(text, architectures())
                        + "; 'gramian weights list' lists all, and names may add a hyphen and a variant"));
    }

    /** Returns whether a text can be a name, and so the name of a file in the store. */
    public static boolean isWellFormed(String text) {
        return FORM.matcher(text).matches();
    }

    @Override
    public String toString() {
        return text;
    }
}
