package org.gramian.report;

import org.gramian.basis.JsonText;

/** JSON as people read it too: what commands and reports write for other programs. */
public final class IndentedJson {
    private IndentedJson() {}

    public static String of(Object document) {
        return JsonText.indented(document);
    }
}
