package org.gramian.backbone.weights;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Gets public weights into the store: downloaded, verified, converted. Of two processes that want the same, one works and
 * the other waits and finds them there.
 *
 * @param store where they go
 * @param download where they come from
 * @param remarks told what happens, one sentence each
 */
public record Acquisition(WeightStore store, Download download, Consumer<String> remarks) {
    private static final long RETRY_MILLIS = 50;

    /**
     * Gets the weights of a name.
     *
     * @return the file in the store
     * @throws MissingWeightsException if there is no public file of that name; the message says what to do
     * @throws IOException if it cannot be downloaded; the message says which file to put where instead
     */
    public Path get(WeightName name) throws IOException {
        PublicFile known = PublicFile.of(name.text())
                .orElseThrow(() -> new MissingWeightsException(
                        "there is no public file of '%s' to download: run 'gramian weights import %s FILE' with %s"
                                .formatted(name, name, WeightStore.importable(name.architecture()))));
        return get(name, known, Blueprint.of(name.architecture()));
    }

    Path get(WeightName name, PublicFile known, Blueprint blueprint) throws IOException {
        WeightStore.create(store.folder());
        Path lockFile = store.folder().resolve("." + name.text() + ".lock");
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = acquire(channel, name)) {
            assert lock.isValid();
            if (store.holds(name)) {
                remarks.accept(store.file(name) + " is there already; 'gramian weights verify " + name
                        + "' looks whether it is right");
                return store.file(name);
            }
            return convert(name, known, blueprint);
        }
    }

    private Path convert(WeightName name, PublicFile known, Blueprint blueprint) throws IOException {
        Path local = store.folder().resolve(known.file());
        boolean brought = Files.isRegularFile(local);
        if (brought) {
            remarks.accept(local + " is there: no download is needed");
            requireRight(local, known);
        } else {
            fetch(name, known);
        }
        Path installed = store.importFile(name, blueprint, local, remarks);
        if (!brought) {
            Files.deleteIfExists(local);
        }
        return installed;
    }

    private void fetch(WeightName name, PublicFile known) throws IOException {
        try {
            download.fetch(known, store.folder());
        } catch (IOException e) {
            throw new IOException(
                    "%s. Without a network: fetch %s elsewhere, put %s into %s and run 'gramian weights get %s' again, or run 'gramian weights import %s FILE'"
                            .formatted(
                                    e.getMessage(), download.address(known), known.file(), store.folder(), name, name),
                    e);
        }
    }

    private static void requireRight(Path local, PublicFile known) throws IOException {
        String sha256 = Fingerprint.of(local);
        if (!sha256.startsWith(known.sha256Prefix())) {
            throw new IOException(
                    "%s is not the published file: its SHA-256 begins with %s instead of %s; delete it and try again"
                            .formatted(
                                    local,
                                    sha256.substring(0, known.sha256Prefix().length()),
                                    known.sha256Prefix()));
        }
    }

    private FileLock acquire(FileChannel channel, WeightName name) throws IOException {
        @Nullable FileLock lock = attempt(channel);
        if (lock == null) {
            remarks.accept("another process is getting '" + name + "': waiting for it");
        }
        while (lock == null) {
            try {
                Thread.sleep(RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while another process was getting '" + name + "'", e);
            }
            lock = attempt(channel);
        }
        return lock;
    }

    private static @Nullable FileLock attempt(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // held by another thread of this process
        }
    }
}
