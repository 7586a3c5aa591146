package org.gramian.cli.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.ByteSize;
import org.gramian.basis.SharedFolderLock;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.Durations;
import org.gramian.cli.common.ExitCode;
import org.gramian.tensor.library.CacheFolder;
import org.gramian.train.feature.FeatureCache;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code gramian cache}: lists and prunes the cache folder. */
@Command(
        name = "cache",
        header = "List the cache folder and remove old files.",
        description = """
            Lists features, weights, converted ONNX networks and unpacked libraries with their sizes and last use. The
            folder is GRAMIAN_CACHE, or gramian in the user's cache folder. After a run, the least recently used features
            above GRAMIAN_CACHE_SIZE (default: 10GB or a tenth of the free disk space, whichever is smaller; none: no
            limit) are removed.\
            """,
        synopsisSubcommandLabel = "[prune]",
        subcommands = CacheCommand.Prune.class)
public final class CacheCommand extends ConsoleCommand {
    private static final String FEATURES = "features";
    private static final Set<String> NETWORKS = Set.of("weights", WeightStore.CONVERTED);
    private static final List<String> LIBRARIES = List.of("libtorch-", "onnxruntime-");

    private record Row(String name, long bytes, Instant lastUse) {}

    @Override
    public Integer call() throws IOException {
        Path folder = CacheFolder.ofProcess();
        List<Row> rows = rows(folder);
        long limit = limit(folder);
        console.out().println("folder: " + folder);
        Columns columns = new Columns().row("name", "size", "last use");
        rows.forEach(row -> columns.row(row.name, ByteSize.text(row.bytes), age(row.lastUse)));
        columns.row("total", ByteSize.text(rows.stream().mapToLong(Row::bytes).sum()));
        console.out().print(columns);
        console.out()
                .println("features and converted networks: limit "
                        + (limit == Long.MAX_VALUE ? "none" : ByteSize.text(limit)) + "; prune with: "
                        + CommandHint.of("cache", "prune"));
        return ExitCode.DONE;
    }

    private static long limit(Path folder) throws IOException {
        Path disk = folder.resolve(FEATURES).toAbsolutePath();
        while (!Files.isDirectory(disk)) {
            disk = Objects.requireNonNull(disk.getParent(), "a disk has a root folder");
        }
        return FeatureCache.limit(disk);
    }

    /** Lists the cache folder: a row for each file of features and of weights, and for every other entry. */
    private static List<Row> rows(Path folder) throws IOException {
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
            } else if (NETWORKS.contains(name) && Files.isDirectory(entry)) {
                for (Path file : children(entry)) {
                    add(rows, name + "/" + file.getFileName(), file);
                }
            } else if (!name.endsWith(".lock")) {
                add(rows, name, entry);
            }
        }
        return rows;
    }

    private static List<Path> children(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.sorted().toList();
        }
    }

    private static void add(List<Row> rows, String name, Path path) throws IOException {
        try {
            rows.add(row(name, path));
        } catch (NoSuchFileException _) {
            // removed by another process
        }
    }

    private static Row row(String name, Path path) throws IOException {
        long bytes = 0;
        Instant used = Instant.EPOCH;
        for (Path file : walk(path)) {
            BasicFileAttributes about =
                    Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (about.isRegularFile()) {
                bytes += about.size();
                for (FileTime time : List.of(about.lastAccessTime(), about.lastModifiedTime())) {
                    used = time.toInstant().isAfter(used) ? time.toInstant() : used;
                }
            }
        }
        return new Row(name, bytes, used);
    }

    /** Returns a folder and everything in it, the folder first. */
    private static List<Path> walk(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static String age(Instant then) {
        if (then.equals(Instant.EPOCH)) {
            return "never";
        }
        Duration age = Duration.between(then, Instant.now());
        return age.toDays() > 0 ? age.toDays() + " d ago" : Durations.text(age) + " ago";
    }

    /** Removes the least recently used features and converted networks; with {@code --all} all of them and unpacked libraries. */
    @Command(name = "prune", header = "Remove the least recently used features.", description = """
        Removes the least recently used features and converted ONNX networks above the limit GRAMIAN_CACHE_SIZE,
        e.g. 2GB. Removed files are computed, converted or unpacked again when needed; an interrupted run of a
        converted network cannot be resumed without it. Weights, and libraries in use by a running process, are
        kept.\
        """)
    static final class Prune extends ConsoleCommand {
        @Option(names = "--all", description = "remove all features, converted networks and unpacked libraries")
        private boolean all;

        @Override
        public Integer call() throws IOException {
            Path folder = CacheFolder.ofProcess();
            Path features = folder.resolve(FEATURES);
            Path converted = folder.resolve(WeightStore.CONVERTED);
            if (Files.isDirectory(features) || Files.isDirectory(converted)) {
                FeatureCache.Pruned pruned = FeatureCache.prune(
                        features, FeatureCache.list(converted, WeightStore.ENDING), all ? 0 : limit(folder), false);
                report("features and converted networks", pruned.bytes());
                console.out().println("features and converted networks left: " + ByteSize.text(pruned.remaining()));
            } else {
                console.out().println("no features or converted networks in " + folder);
            }
            if (all) {
                libraries(folder);
            }
            return ExitCode.DONE;
        }

        private void libraries(Path folder) throws IOException {
            for (Row row : rows(folder)) {
                // A folder that is being unpacked has no lock of its own; the next unpacking removes what a killed one
                // left.
                if (LIBRARIES.stream().anyMatch(row.name()::startsWith)
                        && !row.name().contains(".temporary-")) {
                    Path library = folder.resolve(row.name());
                    if (SharedFolderLock.exclusively(library, () -> remove(library))) {
                        report(row.name(), row.bytes());
                    } else {
                        console.say(row.name() + " kept: in use by a running process");
                    }
                }
            }
        }

        private void remove(Path library) throws IOException {
            for (Path path : walk(library).reversed()) {
                Files.delete(path);
            }
        }

        private void report(String what, long removed) {
            console.out().println(what + ": removed " + ByteSize.text(removed));
        }
    }
}
