package org.gramian.basis;

import java.util.Collection;
import java.util.stream.Collectors;

/** Lists of names in messages: the first twenty, and the number of others. */
public final class NameList {
    private static final int SHOWN = 20;

    private NameList() {}

    /** Returns the names, joined by commas. */
    public static String some(Collection<String> names) {
        String shown = names.stream().limit(SHOWN).collect(Collectors.joining(", "));
        int rest = names.size() - SHOWN;
        return rest > 0 ? shown + " and " + rest + " more" : shown;
    }
}
