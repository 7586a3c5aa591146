package org.gramian.image.augment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.gramian.basis.DiskSpace;
import org.gramian.basis.ParallelLoop;
import org.gramian.image.Image;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.image.resize.Resize;
import org.jspecify.annotations.Nullable;

/**
 * Training images, decoded once and kept as RGB bytes: {@code [height, width, 3]} each, the short side at most {@link
 * Options#canvas}, the aspect kept, never enlarged.
 *
 * <p>They lie in host memory up to a bound, the rest in one scratch file that is mapped into memory and deleted when the store is
 * closed. What is stored does not depend on the number of threads. Images may be read by many threads at once.
 */
public final class ImageStore implements AutoCloseable {
    /** Margin of a stored image over the crop: 288 pixels for crops of 224, as in the reference recipe. */
    private static final double MARGIN = 1.29;

    /** Memory is taken in pieces of this size, which images share. */
    private static final long SLAB_BYTES = 64L << 20;

    public record Options(int canvas, int threads, long hostBytes, Path folder) {
        /** Returns the options for crops of some size: a quarter of the machine's memory at most. */
        public static Options of(int cropSize, int threads, Path folder) {
            long memory = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                    .getTotalMemorySize();
            return new Options((int) Math.ceil(MARGIN * cropSize), threads, memory / 4, folder);
        }
    }

    private static final class Slab {
        final MemorySegment memory;
        long used;

        Slab(MemorySegment memory) {
            this.memory = memory;
        }
    }

    private record Entry(Slab slab, long offset, int width, int height) {}

    private final Options options;
    private final Arena arena = Arena.ofShared();
    private final List<Slab> slabs = new ArrayList<>();
    private final @Nullable Entry[] entries;
    private final long slabBytes;
    private long hostBytes;
    private @Nullable FileChannel channel;

    private ImageStore(int count, Options options) {
        this.options = options;
        this.entries = new Entry[count];
        this.slabBytes = Math.clamp(options.hostBytes, 1 << 16, SLAB_BYTES);
    }

    /**
     * Decodes images with all threads.
     *
     * @param reader decodes a file; called by many threads at once
     */
    public static ImageStore read(
            List<Sample> samples,
            Function<Path, ReadResult> reader,
            Crops crops,
            Options options,
            BiFunction<Sample, Unreadable, RuntimeException> unreadable,
            LongConsumer progress) {
        ImageStore store = new ImageStore(samples.size(), options);
        try {
            ParallelLoop.forEach(samples.size(), options.threads, progress, i -> {
                Sample sample = samples.get(i);
                switch (crops.validate(reader.apply(sample.file()), sample.box())) {
                    case Unreadable problem -> throw unreadable.apply(sample, problem);
                    case Readable(Image image, var _) -> store.put(i, store.scaled(image));
                }
            });
            return store;
        } catch (InterruptedException interrupted) {
            store.close();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while decoding training images", interrupted);
        } catch (RuntimeException | Error failed) {
            store.close();
            throw failed;
        }
    }

    private Image scaled(Image image) {
        return Math.min(image.width(), image.height()) > options.canvas
                ? Resize.shortSide(image, options.canvas)
                : image;
    }

    private void put(int index, Image image) {
        byte[] rgb = image.rgb();
        Entry entry = reserve(image.width(), image.height(), rgb.length);
        MemorySegment.copy(rgb, 0, entry.slab.memory, JAVA_BYTE, entry.offset, rgb.length);
        entries[index] = entry;
    }

    private synchronized Entry reserve(int width, int height, long bytes) {
        Slab slab = slabs.isEmpty() ? null : slabs.getLast();
        if (slab == null || slab.memory.byteSize() - slab.used < bytes) {
            slab = slab(Math.max(slabBytes, bytes));
            slabs.add(slab);
        }
        Entry entry = new Entry(slab, slab.used, width, height);
        slab.used += bytes;
        return entry;
    }

    private Slab slab(long bytes) {
        if (hostBytes + bytes <= options.hostBytes) {
            hostBytes += bytes;
            return new Slab(arena.allocate(bytes, 64));
        }
        try {
            FileChannel file = channel;
            if (file == null) {
                Files.createDirectories(options.folder);
                file = FileChannel.open(
                        Files.createTempFile(options.folder, "images-", ".scratch"),
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.DELETE_ON_CLOSE); // on Unix at once: a killed process leaves nothing
                channel = file;
            }
            if (DiskSpace.usable(options.folder) < bytes) {
                throw new IOException("the disk is full"); // a mapping beyond its end would fail on the first write
            }
            return new Slab(file.map(FileChannel.MapMode.READ_WRITE, file.size(), bytes, arena));
        } catch (IOException failed) {
            throw new UncheckedIOException(
                    "expected disk space for " + (bytes >> 20) + " MiB more of decoded training images in "
                            + options.folder + ", found none; free disk space there, or train with smaller crops",
                    failed);
        }
    }

    public int count() {
        return entries.length;
    }

    public int width(int index) {
        return entry(index).width;
    }

    public int height(int index) {
        return entry(index).height;
    }

    private Entry entry(int index) {
        return Objects.requireNonNull(entries[index], "an image that was not stored");
    }

    public Image image(int index) {
        Entry entry = entry(index);
        byte[] rgb = entry.slab
                .memory
                .asSlice(entry.offset, 3L * entry.width * entry.height)
                .toArray(JAVA_BYTE);
        return new Image(entry.width, entry.height, rgb);
    }

    public long bytes() {
        return slabs.stream().mapToLong(slab -> slab.used).sum();
    }

    /** All bytes, in pieces behind one another. */
    List<MemorySegment> pieces() {
        return slabs.stream().map(slab -> slab.memory.asSlice(0, slab.used)).toList();
    }

    /** Where each image begins in the pieces. */
    long[] offsets() {
        Map<Slab, Long> starts = new HashMap<>();
        long start = 0;
        for (Slab slab : slabs) {
            starts.put(slab, start);
            start += slab.used;
        }
        long[] offsets = new long[entries.length];
        for (int i = 0; i < offsets.length; i++) {
            Entry entry = entry(i);
            offsets[i] = starts.getOrDefault(entry.slab, 0L) + entry.offset;
        }
        return offsets;
    }

    /** Frees the memory and deletes the scratch file; sizes stay known. */
    @Override
    public void close() {
        if (!arena.scope().isAlive()) {
            return;
        }
        arena.close();
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException failed) {
            throw new UncheckedIOException("the scratch file in " + options.folder + " could not be deleted", failed);
        }
    }
}
