package org.gramian.backbone;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * An architecture: its stages in order, of which it may be cut after any.
 *
 * @param name what users type
 * @param stages from the picture to the class scores, under distinct names
 * @param defaultLayer where it is cut unless told otherwise
 * @param about what one should know of it
 */
record Network(String name, List<Stage> stages, String defaultLayer, About about) {
    /** Channels of a picture. */
    static final int COLOURS = 3;

    Network {
        stages = List.copyOf(stages);
        Set<String> names = new HashSet<>();
        for (Stage stage : stages) {
            if (!names.add(stage.name())) {
                throw new IllegalArgumentException(name + " has two layers named " + stage.name());
            }
        }
        if (!names.contains(defaultLayer)) {
            throw new IllegalArgumentException(name + " has no layer " + defaultLayer);
        }
    }
}
