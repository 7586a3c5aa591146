package org.gramian.table;

import java.util.List;
import java.util.stream.Collectors;
import org.gramian.basis.EnumWords;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Methods.Method;

/** Named tables: the two of the paper, and the second-order family. */
public enum TablePreset {
    /** Other methods and the full method. */
    TABLE1("fv-cnn,fv-fc-cnn,bcnn,deep-ten,tail,paper"),
    /** Ablation of the full method. */
    TABLE2("tail,paper-bcnn,paper-tail,paper-kernel-no-conv,paper-kernel-128,paper-kernel,paper"),
    FAMILY(family());

    /** Left out: it needs two layers, e.g. {@code conv5_2+conv5_3}, and all rows of a table share one by default. */
    private static final String TWO_LAYERS = "cross-layer";

    private final String methods;

    TablePreset(String methods) {
        this.methods = methods;
    }

    private static String family() {
        return Methods.all().stream()
                .filter(method -> method.family() == Method.Family.SECOND_ORDER)
                .map(Method::name)
                .filter(name -> !name.equals(TWO_LAYERS))
                .collect(Collectors.joining(",", "average,", ",default"));
    }

    /** Returns its rows, in the order of the paper. */
    public List<TableRow> rows() {
        return TableRow.parse(methods);
    }

    /** Parses a word such as {@code table2}. */
    public static TablePreset parse(String text) {
        return EnumWords.parse(TablePreset.class, "the preset", text);
    }
}
