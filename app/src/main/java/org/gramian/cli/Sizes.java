package org.gramian.cli;

import java.util.Locale;

/** Numbers of bytes in words. */
final class Sizes {
    private static final String[] UNITS = {"bytes", "kB", "MB", "GB", "TB"};

    private Sizes() {}

    /** As {@code 652.3 MB}, in powers of ten as disks are sold. */
    static String text(long bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= 1000 && unit < UNITS.length - 1) {
            value /= 1000;
            unit++;
        }
        return unit == 0 ? bytes + " bytes" : String.format(Locale.ROOT, "%.1f %s", value, UNITS[unit]);
    }
}
