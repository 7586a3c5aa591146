package org.gramian.cli.data;

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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gramian.basis.ByteSize;
import org.gramian.basis.JsonText;
import org.gramian.basis.SharedFolderLock;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.Durations;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.library.CacheFolder;
import org.gramian.train.feature.FeatureCache;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code gramian cache}: lists what the cache folder holds. */
@Command(
        name = "cache",
        mixinStandardHelpOptions = true,
        header = "List the cache folder and remove old files.",
        description = {
            "Lists features, weights and unpacked libraries with their sizes and last use. The folder is"
                    + " GRAMIAN_CACHE, or",
            "gramian in the user's cache folder. After a run, the least recently used features above"
                    + " GRAMIAN_CACHE_SIZE",
            "(default: 10GB or a tenth of the free disk space, whichever is smaller; none: no limit) are removed."
        },
        synopsisSubcommandLabel = "[prune]",
        subcommands = CacheCommand.Prune.class)
public final class CacheCommand implements Callable<Integer> {
    static final String FEATURES = "features";
    static final List<String> LIBRARIES = List.of("libtorch-", "onnxruntime-");

    @Mixin
    private final Console console = new Console();

    @Option(names = "--json", description = "print JSON")
    private boolean json;

    record Row(String name, long bytes, Instant lastUse) {}

    @Override
    public Integer call() throws IOException {
        Path folder = CacheFolder.ofProcess();
        List<Row> rows = rows(folder);
        long total = rows.stream().mapToLong(Row::bytes).sum();
        Path features = folder.resolve(FEATURES);
        long limit = Files.isDirectory(features) ? FeatureCache.limit(features) : FeatureCache.limit(existing(folder));
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

    /** What a cache folder holds: a row for each file of features, each file of weights, and everything else. */
    static List<Row> rows(Path folder) throws IOException {
        List<Row> rows = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return rows;
        }
        for (Path entry : children(folder)) {
            String name = String.valueOf(entry.getFileName());
            if (name.equals(FEATURES)) {
                FeatureCache.list(entry)
                        .forEach(one -> rows.add(
                                new Row(FEATURES + "/" + one.file().getFileName(), one.bytes(), one.lastUse())));
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

    /** {@code gramian cache prune}: removes old features, and unpacked libraries with {@code --all}. */
    @Command(
            name = "prune",
            mixinStandardHelpOptions = true,
            header = "Remove the least recently used features.",
            description = {
                "Without an option, removes the least recently used features above the limit GRAMIAN_CACHE_SIZE."
                        + " Removed files",
                "are computed or unpacked again when needed. Weights and libraries in use by a running process are kept."
            })
    static final class Prune implements Callable<Integer> {
        @Mixin
        private final Console console = new Console();

        @Option(
                names = "--older-than",
                paramLabel = "TIME",
                converter = Age.class,
                description = "remove features last used longer ago than this, e.g. 30d, 2w or 12h")
        private @Nullable Duration age;

        @Option(
                names = "--max-size",
                paramLabel = "SIZE",
                converter = Size.class,
                description = "remove the least recently used features until the rest fits, e.g. 2GB")
        private @Nullable Long size;

        @Option(names = "--all", description = "remove all features and unpacked libraries")
        private boolean all;

        @Option(names = "--dry-run", description = "remove nothing, print what would be removed")
        private boolean dry;

        /** Reads an age: {@code 30d}, {@code 2w}, {@code 12h}, or what {@link Durations} reads. */
        static final class Age implements ITypeConverter<Duration> {
            private static final Pattern DAYS = Pattern.compile("(\\d{1,5})([dw])");

            @Override
            public Duration convert(String text) {
                Matcher days = DAYS.matcher(text.strip());
                if (days.matches()) {
                    return Duration.ofDays(
                            Long.parseLong(days.group(1)) * (days.group(2).equals("w") ? 7 : 1));
                }
                try {
                    return new Durations().convert(text);
                } catch (TypeConversionException _) {
                    throw new TypeConversionException("expected an age such as 30d, 2w or 12h, found '" + text + "'");
                }
            }
        }

        /** Reads a size: {@code 500MB}, {@code 2GB}. */
        static final class Size implements ITypeConverter<Long> {
            @Override
            public Long convert(String text) {
                try {
                    return ByteSize.parse(text);
                } catch (IllegalArgumentException wrong) {
                    throw new TypeConversionException(String.valueOf(wrong.getMessage()));
                }
            }
        }

        @Override
        public Integer call() throws IOException {
            if (all && (age != null || size != null)) {
                throw new IllegalArgumentException("--all removes everything: remove --older-than and --max-size");
            }
            Path folder = CacheFolder.ofProcess();
            Path features = folder.resolve(CacheCommand.FEATURES);
            if (Files.isDirectory(features)) {
                Instant before = age == null ? Instant.MIN : Instant.now().minus(age);
                FeatureCache.Pruned pruned = FeatureCache.prune(features, before, limit(features), dry);
                report(CacheCommand.FEATURES, pruned.bytes(), 0);
                console.out().println("features left: " + ByteSize.text(pruned.remaining()));
            } else {
                console.out().println("no features in " + folder);
            }
            if (all) {
                libraries(folder);
            }
            return ExitCode.DONE;
        }

        private long limit(Path features) throws IOException {
            if (all) {
                return 0;
            }
            if (size != null) {
                return size;
            }
            return age == null ? FeatureCache.limit(features) : Long.MAX_VALUE;
        }

        private void libraries(Path folder) throws IOException {
            for (CacheCommand.Row row : CacheCommand.rows(folder)) {
                if (CacheCommand.LIBRARIES.stream().anyMatch(row.name()::startsWith)) {
                    Path place = folder.resolve(row.name());
                    boolean free = SharedFolderLock.exclusively(place, () -> remove(place));
                    report(row.name(), free ? row.bytes() : 0, free ? 0 : row.bytes());
                }
            }
        }

        private void remove(Path place) throws IOException {
            if (dry) {
                return;
            }
            List<Path> paths;
            try (Stream<Path> found = Files.walk(place)) {
                paths = found.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path path : paths) {
                Files.delete(path);
            }
        }

        private void report(String what, long removed, long busy) {
            console.out().println(what + ": " + (dry ? "would remove " : "removed ") + ByteSize.text(removed));
            if (busy > 0) {
                console.say(what + ": " + ByteSize.text(busy) + " kept: in use by a running process");
            }
        }
    }
}
