package org.gramian.cli;

import org.gramian.cli.model.Visit;

/** How somebody comes to a page. */
public enum Screen {
    DESKTOP,
    DARK,
    PHONE;

    public Visit visit() {
        return switch (this) {
            case DESKTOP -> Visit.desktop();
            case DARK -> Visit.dark();
            case PHONE -> Visit.phone();
        };
    }
}
