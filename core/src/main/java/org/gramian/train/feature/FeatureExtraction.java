package org.gramian.train.feature;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.basis.RegularFile;
import org.gramian.basis.Sha256;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.BatchLoader.Batch;
import org.gramian.image.batch.BatchLoader.BatchSlot;
import org.gramian.image.batch.BatchLoader.LoadRequest;
import org.gramian.image.batch.BatchLoader.Prefetch;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Scope;
import org.gramian.tensor.library.SingleThreadWorkers;
import org.gramian.train.event.TrainEvent;

/**
 * Features of the crops of many images, from the cache or computed and then cached.
 *
 * <p>All {@linkplain #plan planned} features of one image size are one file, which is computed when the first of them is used. Its name
 * follows from {@link FeatureExtractor#recipe}, the contents of the images and their crops; another dataset is another file.
 */
public final class FeatureExtraction {
    /** Identity of a feature in a file: the first half of the SHA-256 of image and crop. */
    private record Key(long high, long low) implements Comparable<Key> {
        static Key of(String text) {
            ByteBuffer hash = ByteBuffer.wrap(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
            return new Key(hash.getLong(), hash.getLong());
        }

        @Override
        public int compareTo(Key other) {
            return high == other.high ? Long.compare(low, other.low) : Long.compare(high, other.high);
        }
    }

    private record Images(List<Sample> samples, Crops crops) {}

    /** An open file with the keys of its rows, in order, and the layer in a row. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Open(FeatureFile file, Key[] keys, FeatureFile.Part part) {
        int row(Key key) {
            return Arrays.binarySearch(keys, key);
        }
    }

    private static final long ROW_ALIGNMENT = 64;

    private final FeatureExtractor extractor;

    private final Optional<FeatureCache> cache;
    private final List<Images> planned = new ArrayList<>();
    private final Map<Path, Optional<byte[]>> hashes = new ConcurrentHashMap<>();
    private final Map<Integer, List<Open>> opened = new HashMap<>();
    private boolean reuses;

    /** Part of the keys of files that cannot be read: they may be readable in the next run. */
    private final String unread = UUID.randomUUID().toString();

    public FeatureExtraction(FeatureExtractor extractor, Optional<FeatureCache> cache) {
        this.extractor = extractor;

        this.cache = cache;
    }

    public FeatureExtractor extractor() {
        return extractor;
    }

    private FeatureCache cache() {
        return cache.orElseThrow(() -> new IllegalStateException("expected a feature cache, found none"));
    }

    /** Plans features, which are computed together with all other planned ones when the first of them is used. */
    public void plan(List<Sample> samples, Crops crops) {
        planned.add(new Images(List.copyOf(samples), crops));
    }

    /** Computes all planned features that are not in the cache. */
    public void computePlanned(String task, int threads, Consumer<TrainEvent.Task> progress) throws IOException {
        for (int size :
                planned.stream().map(images -> images.crops.size()).distinct().toList()) {
            provide(planned(size), new Computation(task, threads, progress));
        }
        planned.clear();
    }

    /**
     * Opens the files of all planned features, whose rows are then copied, not computed, into files of more features.
     *
     * @return false if one is not in the cache
     */
    public boolean reusePlanned(Consumer<TrainEvent.Task> progress) throws IOException {
        for (int size :
                planned.stream().map(images -> images.crops.size()).distinct().toList()) {
            planned(size).forEach(images -> hash(images, progress));
            Key[] all = sorted(planned(size).stream().flatMap(this::keys));
            Optional<Open> file = find(List.of(all), size);
            if (file.isEmpty() || !file.get().file.header().layers().equals(extractor.layers(size))) {
                return false;
            }
        }
        planned.clear();
        reuses = true;
        return true;
    }

    private List<Images> planned(int size) {
        return planned.stream().filter(images -> images.crops.size() == size).toList();
    }

    /** Opens the file of exactly these features; computes it if it is not in the cache. */
    private void provide(List<Images> wanted, Computation task) throws IOException {
        for (Images images : wanted) {
            hash(images, task.progress);
        }
        Key[] all = sorted(wanted.stream().flatMap(this::keys));
        int size = wanted.getFirst().crops.size();
        if (all.length > 0 && find(List.of(all), size).isEmpty()) {
            compute(file(all), wanted, all, task);
            if (find(List.of(all), size).isEmpty()) {
                throw new IOException("the feature cache lost a file while in use: retry");
            }
        }
    }

    private long rowBytes(int size) {
        return extractor.layers(size).values().stream()
                .mapToLong(part -> part.offset() + part.bytes())
                .max()
                .orElseThrow();
    }

    /**
     * Returns the features of images; those that are not in the cache are computed.
     *
     * @param progress receives one call at a time; may throw to stop
     */
    public FeatureTable table(
            String task, List<Sample> samples, Crops crops, int threads, Consumer<TrainEvent.Task> progress)
            throws IOException {
        Images images = new Images(samples, crops);
        hash(images, progress);
        List<Key> keys = keys(images).toList();
        if (keys.isEmpty()) {
            return new FeatureTable(extractor, samples, crops, List.of(), Map.of());
        }
        if (find(keys, crops.size()).isEmpty()
                && !keys.stream().allMatch(key -> open(key, crops.size()).isPresent())) {
            List<Images> together = planned(crops.size());
            for (Images plan : together) {
                hash(plan, progress);
            }
            boolean isPlanned = together.stream()
                    .flatMap(this::keys)
                    .collect(Collectors.toSet())
                    .containsAll(keys);
            if (isPlanned) {
                planned.removeAll(together);
            }
            provide(isPlanned ? together : List.of(images), new Computation(task, threads, progress));
        }

        Map<Integer, Unreadable> problems = new TreeMap<>();
        List<MemorySegment> features = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            Open file = open(keys.get(i), crops.size()).orElseThrow();
            int row = file.row(keys.get(i));
            features.add(file.file.row(row, file.part));
            Unreadable problem = file.file.header().unreadable().get(row);
            if (problem != null) {
                problems.putIfAbsent(i / crops.count(), problem);
            }
        }
        return new FeatureTable(extractor, samples, crops, features, problems);
    }

    private Optional<Open> open(Key key, int size) {
        return opened.getOrDefault(size, List.of()).stream()
                .filter(file -> file.row(key) >= 0)
                .findFirst();
    }

    private static Key[] sorted(Stream<Key> keys) {
        return keys.distinct().sorted().toArray(Key[]::new);
    }

    private void hash(Images images, Consumer<TrainEvent.Task> progress) {
        List<Sample> unknown = images.samples.stream()
                .filter(sample -> !hashes.containsKey(sample.file()))
                .toList();
        AtomicLong done = new AtomicLong();
        unknown.parallelStream().forEach(sample -> {
            hashes.put(sample.file(), hash(sample.file()));
            synchronized (done) {
                if (done.get() >= 0) {
                    long now = done.getAndSet(-1); // stays if the listener throws: no call after that
                    progress.accept(new TrainEvent.Task("hashing files", now + 1, unknown.size()));
                    done.set(now + 1);
                }
            }
        });
    }

    /** Returns the SHA-256 of a regular file within the limits; empty if it cannot be read. */
    private static Optional<byte[]> hash(Path file) {
        try {
            // Checked before opening: opening a pipe would wait for its other end.
            return Files.isRegularFile(file) && Files.size(file) <= ImageLimits.DEFAULT.bytes()
                    ? Optional.of(Sha256.of(file))
                    : Optional.empty();
        } catch (IOException e) {
            return Optional.empty(); // decoding reports the reason
        }
    }

    private Optional<byte[]> hash(Sample sample) {
        return hashes.getOrDefault(sample.file(), Optional.empty());
    }

    private Stream<Key> keys(Images images) {
        return images.samples.stream()
                .flatMap(
                        sample -> IntStream.range(0, images.crops.count()).mapToObj(crop -> key(images, sample, crop)));
    }

    private Key key(Images images, Sample sample, int crop) {
        String image = hash(sample).map(Sha256::hex).orElse(unread + sample.file());
        return Key.of(image + "\n" + images.crops.key(crop, sample));
    }

    private Path file(Key[] keys) {
        String backbone = extractor.network().backbone().toString().replaceAll("[^A-Za-z0-9._+-]", "_");
        return cache().folder().resolve(backbone.substring(0, Math.min(60, backbone.length())) + ending(keys));
    }

    private String ending(Key[] keys) {
        Map<String, String> parts = extractor.recipe();
        parts.remove("layer");
        MessageDigest digest = Sha256.digest();
        digest.update(FeatureExtractor.fingerprint(parts).getBytes(StandardCharsets.UTF_8));
        ByteBuffer all = ByteBuffer.allocate(keys.length * 2 * Long.BYTES);
        for (Key key : keys) {
            all.putLong(key.high).putLong(key.low);
        }
        return "-" + Sha256.hex(digest.digest(all.array())).substring(0, 16) + FeatureFile.SUFFIX;
    }

    /** Returns a file with these features of the layer: one that is open, or one of exactly these features in the cache. */
    private Optional<Open> find(List<Key> some, int size) throws IOException {
        for (Open open : opened.getOrDefault(size, List.of())) {
            if (some.stream().allMatch(key -> open.row(key) >= 0)) {
                return Optional.of(open);
            }
        }
        Key[] keys = sorted(some.stream());
        String ending = ending(keys);
        for (FeatureCache.Entry entry : FeatureCache.list(cache().folder())) {
            if (entry.file().toString().endsWith(ending)) {
                try {
                    FeatureFile file = FeatureFile.open(entry.file(), keys.length);
                    Optional<FeatureFile.Part> part = extractor.find(file, size);
                    if (part.isPresent()) {
                        Open open = new Open(file, keys, part.get());
                        opened.computeIfAbsent(size, _ -> new ArrayList<>()).add(open);
                        return Optional.of(open);
                    }
                } catch (NoSuchFileException _) {
                    // removed by another process
                } catch (IOException damaged) {
                    cache().messages()
                            .accept("feature cache: " + entry.file() + " cannot be used (" + damaged.getMessage()
                                    + "): computing its features again");
                    Files.deleteIfExists(entry.file());
                }
            }
        }
        return Optional.empty();
    }

    private record Computation(String task, int threads, Consumer<TrainEvent.Task> progress) {
        void done(long images, long all) {
            progress.accept(new TrainEvent.Task(task, images, all));
        }
    }

    private void compute(Path file, List<Images> wanted, Key[] keys, Computation task) throws IOException {
        int size = wanted.getFirst().crops.size();
        cache().requireSpace(FeatureFile.bytes(keys.length, rowBytes(size)));
        FeatureFile.Header header = new FeatureFile.Header(extractor.recipe(), extractor.layers(size), Map.of());
        FeatureFile.write(file, keys.length, rowBytes(size), header, writer -> {
            Set<Key> known = new HashSet<>();
            for (int i = 0; reuses && i < keys.length; i++) {
                Open open = open(keys[i], size).orElse(null);
                int row = open == null ? -1 : open.row(keys[i]);
                if (open != null && !open.file.header().unreadable().containsKey(row)) {
                    writer.row(i, open.file.row(row, new FeatureFile.Part(0, FeatureFile.aligned(rowBytes(size)))));
                    known.add(keys[i]);
                }
            }
            long before = 0;
            long all =
                    wanted.stream().mapToLong(images -> images.samples.size()).sum();
            for (Images images : wanted) {
                long done = before;
                List<LoadRequest> missing = new ArrayList<>();
                for (Sample sample : images.samples) {
                    List<Integer> crops = IntStream.range(0, images.crops.count())
                            .filter(crop -> known.add(key(images, sample, crop)))
                            .boxed()
                            .toList();
                    if (!crops.isEmpty()) {
                        missing.add(new LoadRequest(sample, crops));
                    }
                }
                compute(images.crops, missing, task.threads, (slot, row) -> {
                    LoadRequest request = missing.get(slot.request());
                    int index = Arrays.binarySearch(keys, key(images, request.sample(), slot.crop()));
                    if (slot.problem().isPresent()) {
                        requireUnchanged(request.sample(), slot.problem().get());
                        writer.unreadable(index, slot.problem().get());
                    } else {
                        writer.row(index, row);
                    }
                    if (slot.crop() == request.crops().getLast()) {
                        task.done(done + slot.request() + 1, all);
                    }
                });
                before += images.samples.size();
                task.done(before, all);
            }
        });
    }

    /** Receives rows in the order of requests and crops; valid during the call. */
    @FunctionalInterface
    private interface Rows {
        void accept(BatchSlot slot, MemorySegment row) throws IOException;
    }

    /** A batch that is being computed, or will be by the calling thread. */
    private record Pending(Batch batch, MemorySegment rows, Optional<Future<Boolean>> computation) {}

    /** Computes rows in batches: on the CPU several at once, on a GPU with its one stream by this thread. */
    private void compute(Crops crops, List<LoadRequest> work, int threads, Rows rows) throws IOException {
        int batch = extractor.batch();
        long rowBytes = FeatureFile.aligned(rowBytes(crops.size()));
        long count = work.stream().mapToLong(one -> one.crops().size()).sum();
        int atOnce = Math.clamp(Math.ceilDiv(count, batch), 1, extractor.workers());
        Rendering rendering =
                new Rendering(this::read, crops, extractor.network().preprocessing());
        Deque<MemorySegment> free = new ArrayDeque<>();
        Deque<Pending> pending = new ArrayDeque<>();
        try (Arena arena = Arena.ofShared();
                // besides those being computed: one batch ready, one being filled
                BatchLoader loader = new BatchLoader(rendering, work, new Prefetch(batch, threads, 2 + atOnce));
                SingleThreadWorkers workers = extractor.workers() > 1 ? SingleThreadWorkers.open(atOnce) : null) {
            for (int i = 0; i < atOnce; i++) {
                free.add(arena.allocate(batch * rowBytes, ROW_ALIGNMENT));
            }
            while (loader.hasNext() || !pending.isEmpty()) {
                while (loader.hasNext() && pending.size() < atOnce) {
                    Batch next = loader.next();
                    MemorySegment target = free.removeFirst();
                    pending.addLast(new Pending(
                            next,
                            target,
                            Optional.ofNullable(workers).map(pool -> pool.submit(() -> compute(next, target)))));
                }
                Pending first = pending.removeFirst();
                try (Batch done = first.batch) {
                    if (first.computation.isPresent()) {
                        SingleThreadWorkers.get(first.computation.get());
                    } else {
                        compute(done, first.rows);
                    }
                    for (int i = 0; i < done.slots().size(); i++) {
                        rows.accept(done.slots().get(i), first.rows.asSlice(i * rowBytes, rowBytes));
                    }
                }
                free.addLast(first.rows);
            }
        }
    }

    private boolean compute(Batch batch, MemorySegment target) {
        try (Scope _ = Scope.open()) {
            extractor.compute(batch.tensor(), target, target.byteSize() / extractor.batch(), true);
            return true;
        }
    }

    /** Decodes the bytes that were hashed, so that a feature is never stored under the hash of another content. */
    private ReadResult read(Path file) {
        ImageReader reader = new ImageReader(ImageLimits.DEFAULT);
        Optional<byte[]> expected = hashes.getOrDefault(file, Optional.empty());
        if (expected.isEmpty()) {
            return reader.read(file);
        }
        try {
            byte[] content = RegularFile.bytes(file);
            return Arrays.equals(Sha256.of(content), expected.get())
                    ? reader.read(content)
                    : new Unreadable(Problem.INACCESSIBLE, "the file changed meanwhile");
        } catch (IOException e) {
            return new Unreadable(Problem.INACCESSIBLE, "the file could not be read a second time: " + e.getMessage());
        }
    }

    /** Requires that a file whose hash is known can still be read; the failure of another one is a property of the image. */
    private void requireUnchanged(Sample sample, Unreadable problem) {
        if (problem.problem() == Problem.INACCESSIBLE && hash(sample).isPresent()) {
            throw new UncheckedIOException(new IOException(
                    sample.name() + " changed while its features were computed (" + problem.reason() + "): retry"));
        }
    }
}
