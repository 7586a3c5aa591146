package org.gramian.image.audit;

import java.util.List;
import java.util.Locale;

/** Counted things in words. */
final class Wording {
    private Wording() {}

    /** For example {@code 1 image}, {@code 1,200 images}, {@code 3 classes}. */
    static String count(int number, String thing) {
        String many = thing.endsWith("s") ? thing + "es" : thing + "s";
        return String.format(Locale.ROOT, "%,d %s", number, number == 1 ? thing : many);
    }

    /** Which splits divide copies; nothing where one split at most could, since the parts are then said themselves. */
    static String divided(List<String> splits) {
        return switch (splits.size()) {
            case 0, 1 -> "";
            case 2, 3 -> "split by " + String.join(" and ", splits);
            default -> "split by " + splits.size() + " splits";
        };
    }

    /** The verb's form for a number. */
    static String verb(int number, String one, String many) {
        return number == 1 ? one : many;
    }
}
