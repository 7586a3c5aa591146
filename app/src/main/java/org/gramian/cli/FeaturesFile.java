package org.gramian.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.LongStream;
import org.gramian.image.Reading.Unreadable;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.train.feature.FeatureSink;
import tools.jackson.databind.json.JsonMapper;

/**
 * The file that {@code gramian features} writes: {@code features [rows, c, h, w]}, {@code labels [rows]} and {@code
 * picture [rows]}, an index into the names in its metadata.
 *
 * <p>Features are collected in a nameless file beside it, for they may exceed memory, and the number of rows is known at
 * the end only; the real file then appears in one step. The nameless file is gone with this process, however it ends.
 */
final class FeaturesFile implements FeatureSink, AutoCloseable {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Path path;
    private final List<Sample> samples;
    private final FileChannel scratch;
    private final LongStream.Builder labels = LongStream.builder();
    private final LongStream.Builder pictures = LongStream.builder();
    private final List<String> names = new ArrayList<>();
    private final Map<String, String> unreadable = new LinkedHashMap<>();
    private int last = -1;
    private long rows;

    FeaturesFile(Path path, List<Sample> samples) throws IOException {
        this.path = path;
        this.samples = samples;
        this.scratch = FileChannel.open(
                folder(path).resolve(".gramian-" + UUID.randomUUID() + ".partial"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE);
    }

    private static Path folder(Path path) {
        return Objects.requireNonNull(path.toAbsolutePath().getParent(), "a file has a folder");
    }

    /** Says before the work, not after it, that the result could not be written. */
    static void requireWritable(Path path) {
        if (!path.toString().endsWith(".safetensors")) {
            throw new IllegalArgumentException("OUT must end with .safetensors, found " + path);
        }
        Path parent = path.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent) || !Files.isWritable(parent) || Files.isDirectory(path)) {
            throw new IllegalArgumentException("OUT needs an existing folder that can be written to, found " + path);
        }
    }

    /** Says so, too, if the disk is too full for the features: twice, while the file is put together. */
    static void requireSpace(Path path, long bytes) throws IOException {
        FileStore store = Files.getFileStore(folder(path));
        if (store.getTotalSpace() > 0 && 2 * bytes > store.getUsableSpace()) {
            throw new IllegalArgumentException(
                    "OUT needs " + Sizes.text(bytes) + ", and as much again while it is written," + " found "
                            + Sizes.text(store.getUsableSpace()) + " free in " + folder(path));
        }
    }

    @Override
    public void feature(int sample, int crop, MemorySegment feature) throws IOException {
        if (sample != last) {
            last = sample;
            names.add(samples.get(sample).name());
        }
        ByteBuffer bytes = feature.asByteBuffer();
        while (bytes.hasRemaining()) {
            scratch.write(bytes);
        }
        labels.add(samples.get(sample).label());
        pictures.add(names.size() - 1);
        rows++;
    }

    @Override
    public void unreadable(int sample, Unreadable problem) {
        unreadable.put(samples.get(sample).name(), problem.reason());
    }

    /** The pictures without features, and why. */
    Map<String, String> unreadable() {
        return unreadable;
    }

    long rows() {
        return rows;
    }

    /** Writes the real file; {@code about} goes into its metadata, with the names and what could not be read. */
    void write(Shape feature, DType type, Map<String, String> about) throws IOException {
        Map<String, String> metadata = new LinkedHashMap<>(about);
        metadata.put("names", json(names));
        metadata.put("unreadable", json(unreadable));
        try (Arena arena = Arena.ofShared()) {
            MemorySegment features = scratch.map(MapMode.READ_ONLY, 0, scratch.size(), arena);
            long[] sizes = LongStream.concat(LongStream.of(rows), LongStream.of(feature.sizes()))
                    .toArray();
            Safetensors.write(
                    path,
                    Map.of(
                            "features", new StoredTensor(type, Shape.of(sizes), features),
                            "labels", longs(labels, arena),
                            "picture", longs(pictures, arena)),
                    metadata);
        }
    }

    private StoredTensor longs(LongStream.Builder values, Arena arena) {
        MemorySegment data = arena.allocateFrom(JAVA_LONG, values.build().toArray());
        return new StoredTensor(DType.I64, Shape.of(rows), data);
    }

    static String json(Object value) {
        return JSON.writeValueAsString(value);
    }

    @Override
    public void close() throws IOException {
        scratch.close();
    }
}
