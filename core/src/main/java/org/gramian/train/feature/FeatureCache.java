package org.gramian.train.feature;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.SharedFolderLock;
import org.gramian.tensor.library.CacheFolder;
import org.gramian.train.feature.FeatureSegment.Location;
import org.jspecify.annotations.Nullable;

/**
 * Features of one {@link FeatureRecipe} on disk, mapped into memory; any number of processes may use it at once.
 *
 * <p>Each writer appends records to a file of its own (see {@link RecordHeader} for their form), with no locks and nothing
 * ever changed or moved afterwards; {@link FeatureCaches} removes whole files, but none of a recipe in use. A record counts only if it is whole and its checksums are right, which is checked
 * whenever it is read: so a writer may be killed at any moment, a file cut short or damaged, and the worst that follows is
 * a feature that is computed again. Two processes that compute the same feature keep it twice.
 *
 * <p>A cache that cannot be written any more, as when the disk is full, says so once and goes on without: what is computed
 * is right either way, only the next run is slower. So it is with one that cannot be read any more, as when somebody has
 * removed its files meanwhile: what was in it is computed again.
 */
public final class FeatureCache implements AutoCloseable {
    static final String DESCRIPTION = "recipe.json";

    private final Path root;
    private final Path folder;
    private final FeatureRecipe recipe;
    private final Consumer<String> warnings;
    private final SharedFolderLock use;
    private final Map<Path, FeatureSegment> segments = new TreeMap<>();
    private final Map<FeatureKey, List<Location>> index = new HashMap<>();
    private @Nullable FeatureSegmentWriter writer;
    private @Nullable Path written;
    private boolean writable = true;
    private boolean readable = true;
    private boolean closed;

    private FeatureCache(Path root, FeatureRecipe recipe, Consumer<String> warnings, SharedFolderLock use) {
        this.root = root;
        this.folder = root.resolve(recipe.folder());
        this.recipe = recipe;
        this.warnings = warnings;
        this.use = use;
    }

    /** Where features are kept unless one is told: {@code features} in {@link CacheFolder}. */
    public static Path defaultRoot() {
        return CacheFolder.ofProcess().resolve("features");
    }

    /**
     * Opens, and makes where it is not there, the cache of a recipe.
     *
     * @param root a folder for caches of all recipes
     * @param warnings told once if features can no longer be kept, and once if they can no longer be read
     */
    public static FeatureCache open(Path root, FeatureRecipe recipe, Consumer<String> warnings) throws IOException {
        Path folder = root.resolve(recipe.folder());
        SharedFolderLock use = null;
        try {
            if (!Files.isDirectory(root)) { // createDirectories refuses a link to a folder
                Files.createDirectories(root);
            }
            use = SharedFolderLock.of(
                    folder); // before the folder is made, for an unused one may be removed at any time
            Files.createDirectories(folder);
            Path description = folder.resolve(DESCRIPTION);
            if (!Files.exists(description)) {
                AtomicFile.put(description, partial -> Files.writeString(partial, recipe.json()));
            }
        } catch (IOException e) {
            if (use != null) {
                use.close();
            }
            throw new IOException(
                    "cannot write the feature cache to " + folder + " (" + reason(e)
                            + "); choose another folder with --cache-dir, or disable it with --no-cache",
                    e);
        }
        FeatureCache cache = new FeatureCache(root, recipe, warnings, use);
        cache.refresh();
        return cache;
    }

    /** The folder of this recipe. */
    public Path folder() {
        return folder;
    }

    /** What the features are made by. */
    public FeatureRecipe recipe() {
        return recipe;
    }

    /** Looks for features that other processes have added. */
    public synchronized void refresh() {
        for (Path file : files()) {
            try {
                segments.computeIfAbsent(file, FeatureSegment::new).scan(this::add);
            } catch (IOException e) {
                unreadable(e);
            }
        }
    }

    private List<Path> files() {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(FeatureSegmentWriter.SUFFIX))
                    .filter(file -> !file.equals(written))
                    .sorted()
                    .toList();
        } catch (UncheckedIOException e) {
            unreadable(new IOException(e.getMessage(), e));
        } catch (IOException e) {
            unreadable(e);
        }
        return List.of();
    }

    private void unreadable(IOException e) {
        if (readable) {
            readable = false;
            warnings.accept("the feature cache " + folder + " can no longer be read (" + reason(e)
                    + "): its features are recomputed");
        }
    }

    private void add(FeatureKey key, Location location) {
        index.computeIfAbsent(key, _ -> new ArrayList<>(1)).add(location);
    }

    /** Whether a feature is kept here, as far as is known without reading it. */
    public boolean contains(byte[] image, String crop) {
        FeatureKey key = recipe.key(image, crop);
        synchronized (this) {
            return index.containsKey(key);
        }
    }

    /**
     * The feature of a crop, read-only, if it is kept here undamaged.
     *
     * @param image SHA-256 of the image's file
     * @param crop the crop's {@linkplain org.gramian.image.crop.Crops#key key}
     */
    public Optional<MemorySegment> find(byte[] image, String crop) {
        return find(recipe.key(image, crop));
    }

    synchronized Optional<MemorySegment> find(FeatureKey key) {
        for (Location place : index.getOrDefault(key, List.of())) {
            try {
                Optional<MemorySegment> feature = place.read();
                if (feature.isPresent()) {
                    return feature;
                }
            } catch (IOException e) {
                unreadable(e);
            }
        }
        index.remove(key); // damaged or gone, if it was there: what is computed in its place will be found instead
        return Optional.empty();
    }

    /** Keeps the feature of a crop, unless it is there already. */
    public void put(byte[] image, String crop, MemorySegment feature) {
        put(recipe.key(image, crop), feature);
    }

    synchronized void put(FeatureKey key, MemorySegment feature) {
        if (closed) {
            throw new IllegalStateException("the feature cache " + folder + " is closed");
        }
        if (writable && find(key).isEmpty()) {
            try {
                add(key, writer().append(key, feature));
            } catch (IOException e) {
                writable = false;
                warnings.accept("the feature cache " + folder + " can no longer be written (" + reason(e)
                        + "): further features are not cached");
            }
        }
    }

    private FeatureSegmentWriter writer() throws IOException {
        FeatureSegmentWriter present = writer;
        if (present == null) {
            present = FeatureSegmentWriter.create(folder);
            writer = present;
            written = present.file();
        }
        return present;
    }

    /** Number of features that can be found, as far as is known without reading them. */
    public synchronized int size() {
        return index.size();
    }

    /** Bytes that so many more features will take on disk. */
    public static long bytes(long features, long bytesOfEach) {
        return Math.multiplyExact(features, RecordHeader.taken(bytesOfEach));
    }

    /**
     * Says before the work, not in the middle of it, that the disk is too full.
     *
     * @throws IOException if fewer bytes than these are free
     */
    public void requireSpace(long bytes) throws IOException {
        FileStore store = Files.getFileStore(folder);
        // Some network file systems know no sizes and answer zero to everything.
        requireSpace(bytes, store.getTotalSpace() == 0 ? Long.MAX_VALUE : store.getUsableSpace());
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

    private static String reason(IOException e) {
        String kind = e.getClass().getSimpleName();
        return e.getMessage() == null ? kind : kind + ": " + e.getMessage();
    }

    /** Ends the use of the cache, then removes the least recently used features above {@link FeatureCaches#limit}. */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        try (use) {
            if (writer != null) {
                writer.close();
                writer = null;
            }
        }
        FeatureCaches.keepWithinLimit(root, warnings);
    }
}
