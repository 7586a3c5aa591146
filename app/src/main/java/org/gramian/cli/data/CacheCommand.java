package org.gramian.cli.data;

import org.gramian.cli.common.Columns;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.gramian.basis.ByteSize;
import org.gramian.basis.JsonText;
import org.gramian.tensor.library.CacheFolder;
import org.gramian.train.feature.FeatureCaches;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian cache}: lists what the cache folder holds. */
@Command(
        name = "cache",
        mixinStandardHelpOptions = true,
        header = "List the cache folder and remove old files.",
        description = {
            "Lists features, weights and unpacked libraries with their sizes and last use. The folder is GRAMIAN_CACHE, or",
            "gramian in the user's cache folder. After a run, the least recently used features above GRAMIAN_CACHE_SIZE",
            "(default: 10GB or a tenth of the free disk space, whichever is smaller; none: no limit) are removed."
        },
        synopsisSubcommandLabel = "[prune]",
        subcommands = CachePruneCommand.class)
public final class CacheCommand implements Callable<Integer> {
    static final String FEATURES = "features";
    static final String LIBTORCH = "libtorch-";

    @Mixin
    private final Console console = new Console();

    @Option(names = "--json", description = "print JSON")
    private boolean json;

    /** One line of the list. */
    record Row(String name, long bytes, Instant lastUse) {}

    @Override
    public Integer call() throws IOException {
        Path folder = CacheFolder.ofProcess();
        List<Row> rows = rows(folder);
        long total = rows.stream().mapToLong(Row::bytes).sum();
        Path features = folder.resolve(FEATURES);
        long limit =
                Files.isDirectory(features) ? FeatureCaches.limit(features) : FeatureCaches.limit(existing(folder));
        if (json) {
            Map<String, Object> content = new LinkedHashMap<>();
            content.put("folder", folder.toString());
            content.put("bytes", total);
            content.put("featureLimitBytes", limit);
            content.put(
                    "entries",
                    rows.stream()
                            .map(row -> Map.of("name", row.name, "bytes", row.bytes, "lastUse", row.lastUse.toString()))
                            .toList());
            console.out().println(JsonText.indented(content));
            return ExitCode.DONE;
        }
        console.out().println("folder: " + folder);
        Columns columns = new Columns().row("name", "size", "last use");
        Instant now = Instant.now();
        rows.forEach(row -> columns.row(row.name, ByteSize.text(row.bytes), age(row.lastUse, now)));
        columns.row("total", ByteSize.text(total));
        StringBuilder text = new StringBuilder();
        columns.appendTo(text);
        console.out().print(text);
        console.out()
                .println("features: limit "
                        + (limit == Long.MAX_VALUE ? "none" : ByteSize.text(limit)) + "; remove with: "
                        + CommandHint.of("cache", "prune"));
        return ExitCode.DONE;
    }

    private static Path existing(Path folder) {
        Path place = folder.toAbsolutePath();
        while (place.getParent() != null && !Files.isDirectory(place)) {
            place = place.getParent();
        }
        return place;
    }

    /** What a cache folder holds: a row for each recipe of features, each file of weights, and everything else. */
    static List<Row> rows(Path folder) throws IOException {
        List<Row> rows = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return rows;
        }
        for (Path entry : children(folder)) {
            String name = String.valueOf(entry.getFileName());
            if (name.equals(FEATURES)) {
                FeatureCaches.list(entry)
                        .forEach(one -> rows.add(
                                new Row(FEATURES + "/" + one.folder().getFileName(), one.bytes(), one.lastUse())));
            } else if (name.equals("weights") && Files.isDirectory(entry)) {
                for (Path file : children(entry)) {
                    rows.add(row(name + "/" + file.getFileName(), file));
                }
            } else if (!name.endsWith(".lock")) {
                rows.add(row(name, entry));
            }
        }
        return rows;
    }

    private static List<Path> children(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.sorted().toList();
        }
    }

    private static Row row(String name, Path path) throws IOException {
        List<BasicFileAttributes> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(path)) {
            for (Path file : (Iterable<Path>) all::iterator) {
                BasicFileAttributes about = Files.readAttributes(file, BasicFileAttributes.class);
                if (about.isRegularFile()) {
                    files.add(about);
                }
            }
        } catch (UncheckedIOException e) {
            throw new IOException(e.getMessage(), e);
        }
        Instant used = files.stream()
                .flatMap(about -> Stream.of(about.lastAccessTime(), about.lastModifiedTime()))
                .max(Comparator.naturalOrder())
                .map(FileTime::toInstant)
                .orElse(Instant.EPOCH);
        return new Row(name, files.stream().mapToLong(BasicFileAttributes::size).sum(), used);
    }

    private static String age(Instant then, Instant now) {
        Duration age = Duration.between(then, now);
        if (age.toDays() > 0) {
            return age.toDays() + (age.toDays() == 1 ? " day ago" : " days ago");
        }
        if (age.toHours() > 0) {
            return age.toHours() + (age.toHours() == 1 ? " hour ago" : " hours ago");
        }
        return Math.max(0, age.toMinutes()) + " min ago";
    }
}
