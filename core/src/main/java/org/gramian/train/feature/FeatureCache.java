package org.gramian.train.feature;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
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
import org.gramian.basis.DiskSpace;
import org.gramian.basis.SharedFolderLock;
import org.gramian.tensor.library.CacheFolder;
import org.gramian.train.feature.FeatureSegment.Location;
import org.jspecify.annotations.Nullable;

/**
 * Disk cache of the features of one {@link FeatureRecipe}, mapped into memory; several processes may use it at once.
 *
 * <p>Each process appends records to its own file without locks; records never change. Checksums are verified on every read, so a
 * killed writer or a damaged file costs only a recomputation. {@link FeatureCaches} removes whole files, but none of a recipe in use.
 *
 * <p>A cache that can no longer be written or read, for example because the disk is full, warns once; features are then recomputed.
 */
public final class FeatureCache implements AutoCloseable {
    static final String DESCRIPTION = "recipe.json";

    private final Path root;
    private final Path folder;
    private final FeatureRecipe recipe;
    private final Consumer<String> warnings;
    private final SharedFolderLock use;
    private final Map<Path, FeatureSegment> segments = new TreeMap<>();
    private final Map<FeatureRecipe.Key, List<Location>> index = new HashMap<>();
    private FeatureSegment.@Nullable Writer writer;
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

    /** Returns the default folder: {@code features} in {@link CacheFolder}. */
    public static Path defaultRoot() {
        return CacheFolder.ofProcess().resolve("features");
    }

    /**
     * Opens the cache of a recipe; creates it if needed.
     *
     * @param root folder of the caches of all recipes
     * @param warnings receives at most one message about writing and one about reading
     */
    public static FeatureCache open(Path root, FeatureRecipe recipe, Consumer<String> warnings) throws IOException {
        Path folder = root.resolve(recipe.folder());
        SharedFolderLock use = null;
        try {
            if (!Files.isDirectory(root)) { // createDirectories refuses a link to a folder
                Files.createDirectories(root);
            }
            use = SharedFolderLock.of(folder); // before the folder is created: unused folders may be removed
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

    /** Returns the folder of this recipe. */
    public Path folder() {
        return folder;
    }

    /** Returns the recipe of the features. */
    public FeatureRecipe recipe() {
        return recipe;
    }

    /** Finds features that other processes have added. */
    synchronized void refresh() {
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
            return all.filter(file -> file.toString().endsWith(FeatureSegment.Writer.SUFFIX))
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

    private void add(FeatureRecipe.Key key, Location location) {
        index.computeIfAbsent(key, _ -> new ArrayList<>(1)).add(location);
    }

    /** Whether the index has a feature; its checksum is not verified. */
    public boolean contains(byte[] image, String crop) {
        FeatureRecipe.Key key = recipe.key(image, crop);
        synchronized (this) {
            return index.containsKey(key);
        }
    }

    /**
     * Returns the feature of a crop, read-only, if its checksum matches.
     *
     * @param image SHA-256 of the image's file
     * @param crop the crop's {@linkplain org.gramian.image.crop.Crops#key key}
     */
    public Optional<MemorySegment> find(byte[] image, String crop) {
        return find(recipe.key(image, crop));
    }

    synchronized Optional<MemorySegment> find(FeatureRecipe.Key key) {
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
        index.remove(key); // damaged or removed: a recomputed feature replaces it
        return Optional.empty();
    }

    /** Stores the feature of a crop unless present. */
    public void put(byte[] image, String crop, MemorySegment feature) {
        put(recipe.key(image, crop), feature);
    }

    synchronized void put(FeatureRecipe.Key key, MemorySegment feature) {
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

    private FeatureSegment.Writer writer() throws IOException {
        FeatureSegment.Writer present = writer;
        if (present == null) {
            present = FeatureSegment.Writer.create(folder);
            writer = present;
            written = present.file();
        }
        return present;
    }

    /** Returns the number of features in the index. */
    public synchronized int size() {
        return index.size();
    }

    /** Returns the disk space of some features in bytes. */
    public static long bytes(long features, long bytesOfEach) {
        return Math.multiplyExact(features, FeatureSegment.Header.taken(bytesOfEach));
    }

    /**
     * Checks the free disk space before features are computed.
     *
     * @throws IOException if fewer bytes are free
     */
    public void requireSpace(long bytes) throws IOException {
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

    private static String reason(IOException e) {
        String kind = e.getClass().getSimpleName();
        return e.getMessage() == null ? kind : kind + ": " + e.getMessage();
    }

    /** Closes the cache, then removes the least recently used features above {@link FeatureCaches#limit}. */
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
