package org.gramian.cli.data;

import org.gramian.cli.common.Console;
import org.gramian.cli.common.Durations;
import org.gramian.cli.common.ExitCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gramian.basis.ByteSize;
import org.gramian.basis.SharedFolderLock;
import org.gramian.tensor.library.CacheFolder;
import org.gramian.train.feature.FeatureCaches;
import org.gramian.train.feature.FeatureCaches.Pruned;
import org.gramian.train.feature.FeatureCaches.Rule;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code gramian cache prune}: removes old features, and unpacked libraries with {@code --all}. */
@Command(
        name = "prune",
        mixinStandardHelpOptions = true,
        header = "Remove the least recently used features.",
        description = {
            "Without an option, removes the least recently used features above the limit GRAMIAN_CACHE_SIZE. Removed files",
            "are computed or unpacked again when needed. Weights and files in use by a running process are kept."
        })
public final class CachePruneCommand implements Callable<Integer> {
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
            Pruned pruned = FeatureCaches.prune(features, rule(features));
            report(CacheCommand.FEATURES, pruned.bytes(), pruned.busy());
            console.out().println("features left: " + ByteSize.text(pruned.remaining()));
        } else {
            console.out().println("no features in " + folder);
        }
        if (all) {
            libraries(folder);
        }
        return ExitCode.DONE;
    }

    private Rule rule(Path features) throws IOException {
        Instant before = age == null ? Instant.MIN : Instant.now().minus(age);
        if (all) {
            return new Rule(before, 0, dry);
        }
        if (size != null) {
            return new Rule(before, size, dry);
        }
        return new Rule(before, age == null ? FeatureCaches.limit(features) : Long.MAX_VALUE, dry);
    }

    private void libraries(Path folder) throws IOException {
        for (CacheCommand.Row row : CacheCommand.rows(folder)) {
            if (row.name().startsWith(CacheCommand.LIBTORCH)) {
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
