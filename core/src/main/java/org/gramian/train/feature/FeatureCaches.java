package org.gramian.train.feature;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.basis.ByteSize;
import org.gramian.basis.DiskSpace;
import org.gramian.basis.SharedFolderLock;

/**
 * Feature caches of all recipes below one folder: their disk space, and removal of the least recently used features.
 *
 * <p>Writing and reading count as use. Files of a recipe that a running process has open are never removed.
 */
public final class FeatureCaches {
    /** Environment variable with the size limit, e.g. {@code 2GB}; {@code none}: no limit. */
    public static final String LIMIT_VARIABLE = "GRAMIAN_CACHE_SIZE";

    static final long DEFAULT_LIMIT = 10_000_000_000L;
    private static final int DISK_SHARE = 10;

    private FeatureCaches() {}

    /**
     * Features of one recipe.
     *
     * @param files number of files
     * @param bytes their size
     * @param lastUse time of the last write or read
     */
    public record Entry(Path folder, int files, long bytes, Instant lastUse) {}

    /**
     * Files to remove: those last used before a time, then the least recently used until the rest fits.
     *
     * @param before removes files last used before this time
     * @param maxBytes limit of the remaining size
     * @param dryRun only counts
     */
    public record Rule(Instant before, long maxBytes, boolean dryRun) {
        /** Removes the least recently used files until the rest fits. */
        public static Rule atMost(long bytes) {
            return new Rule(Instant.MIN, bytes, false);
        }
    }

    /**
     * Result of pruning.
     *
     * @param files removed
     * @param bytes their size
     * @param remaining bytes
     * @param busy bytes that the rule selects but a running process uses
     */
    public record Pruned(int files, long bytes, long remaining, long busy) {}

    private record Stored(Path file, long bytes, Instant lastUse) {
        static Optional<Stored> of(Path file) throws IOException {
            try {
                return Optional.of(new Stored(
                        file, Files.size(file), Files.getLastModifiedTime(file).toInstant()));
            } catch (NoSuchFileException _) {
                return Optional.empty(); // another process removed it meanwhile
            }
        }

        Path folder() {
            return Objects.requireNonNull(file.getParent(), "it lies in the folder of a recipe");
        }
    }

    /** Lists the recipes with features, the least recently used first. */
    public static List<Entry> list(Path root) throws IOException {
        List<Entry> entries = new ArrayList<>();
        List<Stored> stored = stored(root);
        for (Path folder : new HashSet<>(stored.stream().map(Stored::folder).toList())) {
            List<Stored> files =
                    stored.stream().filter(one -> one.folder().equals(folder)).toList();
            entries.add(new Entry(
                    folder,
                    files.size(),
                    files.stream().mapToLong(Stored::bytes).sum(),
                    files.stream()
                            .map(Stored::lastUse)
                            .max(Comparator.naturalOrder())
                            .orElseThrow()));
        }
        entries.sort(Comparator.comparing(Entry::lastUse).thenComparing(Entry::folder));
        return entries;
    }

    private static List<Stored> stored(Path root) throws IOException {
        List<Stored> stored = new ArrayList<>();
        if (Files.isDirectory(root)) {
            try (Stream<Path> files = Files.find(
                    root,
                    2,
                    (file, about) -> about.isRegularFile() && file.toString().endsWith(FeatureSegment.Writer.SUFFIX))) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    Stored.of(file).ifPresent(stored::add);
                }
            } catch (UncheckedIOException e) {
                throw new IOException(e.getMessage(), e);
            }
        }
        stored.sort(Comparator.comparing(Stored::lastUse).thenComparing(Stored::file));
        return stored;
    }

    /** Removes files of features by a rule. */
    public static Pruned prune(Path root, Rule rule) throws IOException {
        List<Stored> stored = stored(root);
        long remaining = stored.stream().mapToLong(Stored::bytes).sum();
        int files = 0;
        long bytes = 0;
        long busy = 0;
        for (Stored one : stored) {
            if (!one.lastUse.isBefore(rule.before) && remaining <= rule.maxBytes) {
                continue;
            }
            if (SharedFolderLock.exclusively(one.folder(), () -> remove(one, rule.dryRun))) {
                files++;
                bytes += one.bytes;
                remaining -= one.bytes;
            } else {
                busy += one.bytes;
            }
        }
        return new Pruned(files, bytes, remaining, busy);
    }

    private static void remove(Stored one, boolean dryRun) throws IOException {
        if (dryRun) {
            return;
        }
        Files.deleteIfExists(one.file);
        Set<String> rest = new HashSet<>();
        try (Stream<Path> names = Files.list(one.folder())) {
            names.forEach(path -> rest.add(String.valueOf(path.getFileName())));
        }
        if (rest.equals(Set.of(FeatureCache.DESCRIPTION))) {
            Files.delete(one.folder().resolve(FeatureCache.DESCRIPTION));
            Files.delete(one.folder());
        }
    }

    /**
     * Returns the size limit after a run: {@code GRAMIAN_CACHE_SIZE}, else 10 GB or a tenth of the disk space that would be free without features, whichever is smaller.
     *
     * @throws IllegalArgumentException if the variable is not a size
     */
    public static long limit(Path root) throws IOException {
        String size = System.getenv(LIMIT_VARIABLE);
        if (size != null && !size.isBlank()) {
            return limit(size.strip());
        }
        long usable = DiskSpace.usable(root);
        if (usable == Long.MAX_VALUE) {
            return DEFAULT_LIMIT;
        }
        long kept = stored(root).stream().mapToLong(Stored::bytes).sum();
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

    /** Removes the least recently used features above the limit; a failure is only a message. */
    static void keepWithinLimit(Path root, Consumer<String> messages) {
        try {
            long limit = limit(root);
            Pruned pruned = prune(root, Rule.atMost(limit));
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
