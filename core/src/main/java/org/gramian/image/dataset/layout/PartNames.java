package org.gramian.image.dataset.layout;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.NearestWord;
import org.gramian.image.dataset.Part;

/** The names of train, validation and test in folders and in columns, in any case. */
final class PartNames {
    private static final Map<String, Part> PARTS = Map.of(
            "train", Part.TRAIN,
            "val", Part.VALIDATION,
            "valid", Part.VALIDATION,
            "validation", Part.VALIDATION,
            "test", Part.TEST);

    private PartNames() {}

    /** The name that was meant by a folder that is none of these, as {@code train} by {@code trian}. */
    static Optional<String> near(String name) {
        return NearestWord.of(name.toLowerCase(Locale.ROOT), PARTS.keySet());
    }

    static Optional<Part> of(String name) {
        return Optional.ofNullable(PARTS.get(name.toLowerCase(Locale.ROOT)));
    }
}
