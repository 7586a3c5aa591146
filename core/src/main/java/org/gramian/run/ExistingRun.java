package org.gramian.run;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.basis.RegularFile;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.Settings;
import org.gramian.run.config.Settings.Setting;

/**
 * The configuration files of a run's folder: {@value #CONFIG} with every value and its origin, and {@value #FOLDS} with the names of
 * the selected folds, a line each, if these are not all.
 */
public record ExistingRun(Path folder) {
    public static final String CONFIG = "config.yaml";

    /** File of a fold that is not finished. */
    public static final String CHECKPOINT = "checkpoint.safetensors";

    private static final String FOLDS = "folds.txt";

    private static final String SAMPLE = "sample.json";

    /** Provenance of a run that extends another, written before the list of its images. */
    public static final String EXTENDED = "extended.json";

    /** Never deleted: a deleted one could be locked twice. */
    static final String LOCK = ".lock";

    /** The images of a run that did not use all of them. */
    public record Sampled(int planned, int used, int all) {}

    /** Provenance of a run that extends another. */
    record Extended(Map<String, String> origin) {}

    /** Returns the sample of the run; empty if it uses all images. */
    public Optional<Sampled> sample() throws IOException {
        Path file = folder.resolve(SAMPLE);
        return Files.exists(file)
                ? Optional.of(JsonText.read(
                        file, Sampled.class, "the sample of the run", "start a new run in another folder"))
                : Optional.empty();
    }

    void keep(Sampled sample) throws IOException {
        JsonText.write(folder.resolve(SAMPLE), sample);
    }

    /** Returns the provenance of the run that this one extends; empty if it extends none. */
    Map<String, String> extended() throws IOException {
        Path file = folder.resolve(EXTENDED);
        return isExtended()
                ? JsonText.read(file, Extended.class, "provenance of the extended run", "extend it again")
                        .origin()
                : Map.of();
    }

    void keep(Extended extended) throws IOException {
        JsonText.write(folder.resolve(EXTENDED), extended);
    }

    public boolean exists() {
        return Files.isRegularFile(folder.resolve(CONFIG));
    }

    /** Returns whether the run has one fold, and it is finished. */
    public boolean isFinished() {
        return exists() && new FoldFolder(folder).isDone();
    }

    /** Returns whether it extends another run. */
    public boolean isExtended() {
        return Files.exists(folder.resolve(EXTENDED));
    }

    public Settings settings() {
        return ConfigFile.read(folder.resolve(CONFIG));
    }

    public RunPlan rest(RunPlan whole) throws IOException {
        Optional<List<String>> kept = folds();
        try {
            return kept.isEmpty() ? whole : whole.only(kept.get());
        } catch (IllegalArgumentException damaged) {
            throw new IOException(folder.resolve(FOLDS) + ": " + damaged.getMessage(), damaged);
        }
    }

    private Optional<List<String>> folds() throws IOException {
        Path file = folder.resolve(FOLDS);
        return Files.exists(file) ? Optional.of(RegularFile.lines(file)) : Optional.empty();
    }

    /** Writes configuration and selected folds; those of an existing run are added to its selection. */
    void begin(RunPlan plan) throws IOException {
        List<String> selected = plan.folds().stream().map(FoldPlan::name).toList();
        if (!exists()) {
            keep(selected, plan);
            ConfigFile.write(folder.resolve(CONFIG), plan.settings()); // last: it marks an existing run
            return;
        }
        requireSame(plan.settings());
        Optional<List<String>> before = folds();
        if (before.isPresent()) {
            keep(Stream.concat(before.get().stream(), selected.stream()).toList(), plan);
        }
    }

    private void keep(List<String> selected, RunPlan plan) throws IOException {
        Path file = folder.resolve(FOLDS);
        List<String> some = plan.names().stream().filter(selected::contains).toList();
        if (some.equals(plan.names())) {
            Files.deleteIfExists(file);
        } else {
            AtomicFile.putText(file, text -> text.write(String.join("\n", some) + "\n"));
        }
    }

    void requireSame(Settings wanted) throws IOException {
        Map<String, Setting> found = settings().values();
        for (Setting setting : wanted.values().values()) {
            String other = Optional.ofNullable(found.get(setting.key()))
                    .map(Setting::text)
                    .orElse("nothing");
            // The path of weights may change; the models store their fingerprint.
            if (ConfigKey.decides(setting.key()) && !setting.text().equals(other)) {
                throw new IOException(folder.resolve(CONFIG) + ": expected " + setting.key() + " " + setting.text()
                        + ", found " + other
                        + "; resume with the original settings, or start a new run in another folder");
            }
        }
    }

    /**
     * Lock of the folder against a second run, which would overwrite its files. The operating system releases it when the process
     * dies.
     */
    record Lock(Path folder, FileChannel channel) implements AutoCloseable {
        /** Locks of the operating system belong to the process and are lost when any channel on the file is closed. */
        private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

        @Override
        public void close() throws IOException {
            try {
                channel.close(); // and with it the lock
            } finally {
                OURS.remove(folder);
            }
        }
    }

    Lock lock() throws IOException {
        Path real = folder.toRealPath();
        if (Lock.OURS.add(real)) {
            boolean held = false;
            try {
                Path file = real.resolve(LOCK);
                if (Files.exists(file)) {
                    RegularFile.attributes(file);
                }
                FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                try {
                    held = channel.tryLock() != null;
                } catch (OverlappingFileLockException _) {
                    // held in this process by a class of another loader
                }
                if (held) {
                    return new Lock(real, channel);
                }
                channel.close();
            } finally {
                if (!held) {
                    Lock.OURS.remove(real);
                }
            }
        }
        throw new IOException(
                folder + ": another run is using this folder; wait until it ends, or choose another folder");
    }
}
