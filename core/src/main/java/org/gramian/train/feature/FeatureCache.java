package org.gramian.train.feature;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.ByteSize;
import org.gramian.basis.DiskSpace;
import org.gramian.tensor.library.CacheFolder;

/**
 * Folder of {@linkplain FeatureFile files of features}, which several processes may use at once: a file appears complete, by a rename,
 * never changes, and stays mapped where it is in use even if another process deletes it.
 *
 * @param temporary whether the folder is removed at the end; otherwise the oldest files above {@link #limit} are
 */
public record FeatureCache(Path folder, boolean temporary, Consumer<String> messages) implements AutoCloseable {
    /** Environment variable with the size limit, e.g. {@code 2GB}; {@code none}: no limit. */
    public static final String LIMIT_VARIABLE = "GRAMIAN_CACHE_SIZE";

    static final long DEFAULT_LIMIT = 10_000_000_000L;
    private static final int DISK_SHARE = 10;

    /** A file that is being written changes often: an older one is that of a killed process. */
    private static final Duration ABANDONED = Duration.ofDays(1);

    private static final Comparator<Entry> LEAST_RECENT =
            Comparator.comparing(Entry::lastUse).thenComparing(Entry::file);

    public static Path defaultRoot() {
        return CacheFolder.ofProcess().resolve("features");
    }

    public static FeatureCache open(Optional<Path> shared, Path run, Consumer<String> messages) throws IOException {
        Path folder = shared.orElse(run.resolve(".features"));
        try {
            if (!Files.isDirectory(folder)) { // createDirectories refuses a link to a folder
                Files.createDirectories(folder);
            }
            AtomicFile.require(folder.resolve("any"));
        } catch (IOException e) {
            throw new IOException(
                    "cannot write the feature cache to " + folder + " (" + AtomicFile.reason(e)
                            + "); choose another folder with --cache-dir, or disable it with --no-cache",
                    e);
        }
        return new FeatureCache(folder, shared.isEmpty(), messages);
    }

    public record Entry(Path file, long bytes, Instant lastUse) {}

    public static List<Entry> list(Path folder) throws IOException {
        return list(folder, FeatureFile.SUFFIX);
    }

    /** Returns the files of a folder whose names end so, the least recently used first. */
    public static List<Entry> list(Path folder, String suffix) throws IOException {
        List<Entry> entries = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    if (file.toString().endsWith(suffix)) {
                        BasicFileAttributes about = Files.readAttributes(file, BasicFileAttributes.class);
                        entries.add(new Entry(
                                file, about.size(), about.lastModifiedTime().toInstant()));
                    }
                }
            } catch (NoSuchFileException _) {
                return list(folder, suffix); // another process removed a file meanwhile
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }
        entries.sort(LEAST_RECENT);
        return entries;
    }

    public record Pruned(int files, long bytes, long remaining) {}

    /** Removes the least recently used files until the rest fits. */
    public static Pruned prune(Path folder, long maxBytes, boolean dryRun) throws IOException {
        return prune(folder, List.of(), maxBytes, dryRun);
    }

    /** Removes the least recently used files of a cache, and of others, until the rest fits. */
    public static Pruned prune(Path folder, List<Entry> others, long maxBytes, boolean dryRun) throws IOException {
        List<Entry> entries = Stream.concat(list(folder).stream(), others.stream())
                .sorted(LEAST_RECENT)
                .toList();
        long remaining = entries.stream().mapToLong(Entry::bytes).sum();
        int files = 0;
        long bytes = 0;
        for (Entry entry : entries) {
            if (remaining > maxBytes) {
                if (!dryRun) {
                    Files.deleteIfExists(entry.file);
                }
                files++;
                bytes += entry.bytes;
                remaining -= entry.bytes;
            }
        }
        for (Entry partial : dryRun ? List.<Entry>of() : list(folder, AtomicFile.PARTIAL)) {
            if (partial.lastUse.isBefore(Instant.now().minus(ABANDONED))) {
                Files.deleteIfExists(partial.file);
            }
        }
        return new Pruned(files, bytes, remaining);
    }

    /**
     * Returns the size limit after a run: {@code GRAMIAN_CACHE_SIZE}, else 10 GB or a tenth of the disk space that would be free
     * without features, whichever is smaller.
     */
    public static long limit(Path folder) throws IOException {
        String size = System.getenv(LIMIT_VARIABLE);
        if (size != null && !size.isBlank()) {
            return limit(size.strip());
        }
        long usable = DiskSpace.usable(folder);
        if (usable == Long.MAX_VALUE) {
            return DEFAULT_LIMIT;
        }
        long kept = list(folder).stream().mapToLong(Entry::bytes).sum();
        return Math.min(DEFAULT_LIMIT, (usable + kept) / DISK_SHARE);
    }

    static long limit(String size) {
        try {
            return size.equals("none") ? Long.MAX_VALUE : ByteSize.parse(size);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    LIMIT_VARIABLE + ": expected a size such as 500MB or 2GB, or none, found '" + size + "'", wrong);
        }
    }

    void requireSpace(long bytes) throws IOException {
        requireSpace(bytes, DiskSpace.usable(folder));
    }

    void requireSpace(long bytes, long free) throws IOException {
        if (bytes > free) {
            throw new IOException(String.format(
                    Locale.ROOT,
                    "the feature cache needs %,d MB in %s, found %,d MB free; free disk space, choose another folder"
                            + " with --cache-dir, or disable it with --no-cache",
                    Math.ceilDiv(bytes, 1_000_000),
                    folder,
                    free / 1_000_000));
        }
    }

    /** Removes a temporary cache, or the oldest files above the limit; a failure to do so is only a message. */
    @Override
    public void close() throws IOException {
        if (temporary) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    Files.deleteIfExists(file);
                }
            }
            Files.deleteIfExists(folder);
            return;
        }
        try {
            long limit = limit(folder);
            Pruned pruned = prune(folder, limit, false);
            if (pruned.files > 0) {
                messages.accept("feature cache: removed " + ByteSize.text(pruned.bytes)
                        + " of the least recently used features, limit " + ByteSize.text(limit) + "; set "
                        + LIMIT_VARIABLE + " to change it");
            }
        } catch (IOException | IllegalArgumentException e) {
            messages.accept("feature cache: could not be pruned (" + e.getMessage() + ")");
        }
    }
}
