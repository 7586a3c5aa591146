package org.gramian.tensor.library;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** The two questions to a disk whose bad answers the tests must be able to give: how much is free, and can I write. */
interface Disk {
    /** The disk of the operating system. */
    Disk REAL = new Disk() {
        @Override
        public long usableSpace(Path folder) throws IOException {
            FileStore store = Files.getFileStore(folder);
            // Some network file systems know no sizes and answer zero to everything.
            return store.getTotalSpace() == 0 ? Long.MAX_VALUE : store.getUsableSpace();
        }

        @Override
        public OutputStream create(Path file) throws IOException {
            return Files.newOutputStream(file);
        }
    };

    /** Bytes that can still be written below a folder. */
    long usableSpace(Path folder) throws IOException;

    /** Opens a new file for writing. */
    OutputStream create(Path file) throws IOException;
}
