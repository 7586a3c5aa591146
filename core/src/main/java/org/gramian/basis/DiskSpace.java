package org.gramian.basis;

import java.io.File;
import java.nio.file.Path;

/** Free space of disks. */
public final class DiskSpace {
    private DiskSpace() {}

    /**
     * Returns the usable bytes on the disk of a folder, {@link Long#MAX_VALUE} if unknown: some network file systems report sizes
     * of 0. {@link java.nio.file.FileStore} is not used because it needs the mount point, which is not visible in a chroot.
     */
    public static long usable(Path folder) {
        File file = folder.toFile();
        return file.getTotalSpace() == 0 ? Long.MAX_VALUE : file.getUsableSpace();
    }
}
