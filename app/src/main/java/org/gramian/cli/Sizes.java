package org.gramian.cli;

import org.gramian.basis.ByteSize;

/** Numbers of bytes in words. */
final class Sizes {
    private Sizes() {}

    /** As {@code 652.3 MB}, in powers of ten as disks are sold. */
    static String text(long bytes) {
        return ByteSize.text(bytes);
    }
}
