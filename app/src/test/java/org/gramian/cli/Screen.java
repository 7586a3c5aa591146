package org.gramian.cli;

import com.microsoft.playwright.options.ColorScheme;
import java.util.stream.Stream;
import org.gramian.cli.command.Visit;

/** Kinds of screens on which pages are checked. */
public enum Screen {
    DESKTOP,
    DARK,
    PHONE,
    DARK_PHONE;

    /** The narrowest in the dark, or under {@code ./verify --full} all. */
    public static Stream<Screen> checked() {
        return Boolean.getBoolean("gramian.full") ? Stream.of(values()) : Stream.of(DARK_PHONE);
    }

    public Visit visit() {
        return switch (this) {
            case DESKTOP -> Visit.desktop();
            case DARK -> Visit.dark();
            case PHONE -> Visit.phone(ColorScheme.LIGHT);
            case DARK_PHONE -> Visit.phone(ColorScheme.DARK);
        };
    }
}
