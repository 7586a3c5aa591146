package org.gramian.run.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.backbone.Backbone;
import org.gramian.basis.EnumWords;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;

/** Tables with a name: the two of the paper, and the second-order family; every row under the title of its method. */
public enum TablePreset {
    /** The paper's comparison with others. */
    TABLE1("the paper's Table 1: other methods and the full method") {
        @Override
        public List<TableRow> rows() {
            return methods("fv-cnn", "fv-fc-cnn", "bcnn", "deep-ten", TAIL, "paper");
        }
    },

    /** The paper's ablations. */
    TABLE2("the paper's Table 2: ablation of the full method") {
        @Override
        public List<TableRow> rows() {
            return methods(
                    TAIL,
                    "paper-bcnn",
                    PAPER_TAIL,
                    "paper-kernel-no-conv",
                    "paper-kernel-128",
                    "paper-kernel",
                    "paper");
        }
    },

    /** Average pooling as the baseline, then every second-order method of one layer, then this project's default. */
    FAMILY("average pooling, every second-order method of one layer, and the default") {
        @Override
        public List<TableRow> rows() {
            List<TableRow> rows = new ArrayList<>(methods("average"));
            Methods.all().stream()
                    .filter(method -> method.family() == Method.Family.SECOND_ORDER)
                    .filter(method -> !method.name().equals(TWO_LAYERS))
                    .map(TableRow::of)
                    .forEach(rows::add);
            rows.addAll(methods("default"));
            return rows;
        }
    };

    private static final String TAIL = "tail";
    private static final String PAPER_TAIL = "paper-tail";
    private static final String VGG = "VGG-16";

    /** It needs two layers, as {@code conv5_2+conv5_3}, and all rows of a table stand on the same one unless told otherwise. */
    private static final String TWO_LAYERS = "cross-layer";

    private final String meaning;

    TablePreset(String meaning) {
        this.meaning = meaning;
    }

    /** Its rows, in the order of the paper. */
    public abstract List<TableRow> rows();

    /** What it shows, in one line. */
    public String meaning() {
        return meaning;
    }

    /** The preset of a word, as {@code table2}. */
    public static TablePreset parse(String text) {
        return EnumWords.parse(TablePreset.class, "the preset", text);
    }

    private static List<TableRow> methods(String... names) {
        return Arrays.stream(names)
                .map(name -> TableRow.of(Methods.find(name).orElseThrow()))
                .toList();
    }

    /**
     * The title of a row on a network: a tail is called after the network whose it is, VGG-16's as in the paper, and the
     * convolution before a tail has as many channels as the layer.
     */
    static String title(TableRow row, Backbone backbone) {
        String tail = backbone.name().equals("vgg16") ? VGG : "tail of " + backbone.name();
        if (isMethod(row, TAIL)) {
            return tail;
        }
        return isMethod(row, PAPER_TAIL) ? backbone.channels() + " conv1×1 + " + tail : row.title();
    }

    /** A pooling of somebody's own may have the label of a method. */
    private static boolean isMethod(TableRow row, String name) {
        return row.name().equals(name) && row.pooling().equals(name);
    }
}
