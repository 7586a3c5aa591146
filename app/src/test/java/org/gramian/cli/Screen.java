package org.gramian.cli;

import java.util.stream.Stream;
import org.gramian.cli.model.Visit;

/** Kinds of screens on which pages are checked. */
public enum Screen {
    DESKTOP,
    DARK,
    PHONE;

    /** One of each size, or under {@code ./verify --full} all. */
    public static Stream<Screen> checked() {
        return Boolean.getBoolean("gramian.full") ? Stream.of(values()) : Stream.of(DARK, PHONE);
    }

    public Visit visit() {
        return switch (this) {
            case DESKTOP -> Visit.desktop();
            case DARK -> Visit.dark();
            case PHONE -> Visit.phone();
        };
    }
}
