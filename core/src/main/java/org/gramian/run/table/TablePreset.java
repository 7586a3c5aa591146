package org.gramian.run.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.gramian.backbone.Backbone;
import org.gramian.basis.EnumWords;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;

/** Named tables: the two of the paper, and the second-order family. */
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

    /** Left out: it needs two layers, e.g. {@code conv5_2+conv5_3}, and all rows of a table share one by default. */
    private static final String TWO_LAYERS = "cross-layer";

    private final String meaning;

    TablePreset(String meaning) {
        this.meaning = meaning;
    }

    /** Returns its rows, in the order of the paper. */
    public abstract List<TableRow> rows();

    /** Returns its description in one line. */
    public String meaning() {
        return meaning;
    }

    /** Parses a word such as {@code table2}. */
    public static TablePreset parse(String text) {
        return EnumWords.parse(TablePreset.class, "the preset", text);
    }

    private static List<TableRow> methods(String... names) {
        return Arrays.stream(names)
                .map(name -> TableRow.of(Methods.find(name).orElseThrow()))
                .toList();
    }

    /**
     * Returns the title of a row on a backbone: a tail is named after its backbone (VGG-16's as in the paper), and the
     * convolution before it has as many channels as the layer.
     */
    static String title(TableRow row, Backbone backbone) {
        String tail = backbone.name().equals("vgg16") ? VGG : "tail of " + backbone.name();
        if (isMethod(row, TAIL)) {
            return tail;
        }
        return isMethod(row, PAPER_TAIL) ? backbone.channels() + " conv1×1 + " + tail : row.title();
    }

    /** Returns whether the row is that method: a custom pooling may have the same label. */
    private static boolean isMethod(TableRow row, String name) {
        return row.name().equals(name) && row.pooling().equals(name);
    }
}
