package org.gramian.tensor.library;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** Free space and file creation, replaceable in tests to simulate failures. */
interface Disk {
    /** The disk of the operating system. */
    Disk REAL = new Disk() {
        @Override
        public long usableSpace(Path folder) throws IOException {
            FileStore store = Files.getFileStore(folder);
            // Some network file systems report 0 bytes of free space.
            return store.getTotalSpace() == 0 ? Long.MAX_VALUE : store.getUsableSpace();
        }

        @Override
        public OutputStream create(Path file) throws IOException {
            return Files.newOutputStream(file);
        }
    };

    /** Returns the usable space of a folder in bytes. */
    long usableSpace(Path folder) throws IOException;

    /** Opens a new file for writing. */
    OutputStream create(Path file) throws IOException;
}
