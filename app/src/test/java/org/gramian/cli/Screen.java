package org.gramian.cli;

/** How somebody comes to a page. */
enum Screen {
    DESKTOP,
    DARK,
    PHONE;

    Visit visit() {
        return switch (this) {
            case DESKTOP -> Visit.desktop();
            case DARK -> Visit.dark();
            case PHONE -> Visit.phone();
        };
    }
}
