package org.gramian.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.basis.AtomicTextFile;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Setting;
import org.gramian.run.config.Settings;

/**
 * What a run was begun with, as its folder keeps it: {@value #CONFIG} with every value and where it came from, and {@value
 * #FOLDS} with the names of the folds that were asked for, a line each, where these are not all.
 *
 * @param folder of the run
 */
public record ExistingRun(Path folder) {
    /** The configuration's name within the folder. */
    public static final String CONFIG = "config.yaml";

    private static final String FOLDS = "folds.txt";

    /** Whether a run was begun here. */
    public boolean exists() {
        return Files.isRegularFile(folder.resolve(CONFIG));
    }

    /** The configuration; a value for every key. */
    public Settings settings() {
        return ConfigFile.read(folder.resolve(CONFIG));
    }

    /**
     * Of a run, only the folds that were asked for so far.
     *
     * @throws IOException if the run kept names that are none of its folds
     */
    public RunPlan rest(RunPlan whole) throws IOException {
        Optional<List<String>> kept = folds();
        try {
            return kept.isEmpty() ? whole : whole.only(kept.get());
        } catch (IllegalArgumentException damaged) {
            throw new IOException(folder.resolve(FOLDS) + ": " + damaged.getMessage(), damaged);
        }
    }

    /** Names of folds; nothing where all were asked for. */
    private Optional<List<String>> folds() throws IOException {
        Path file = folder.resolve(FOLDS);
        return Files.exists(file)
                ? Optional.of(
                        Files.readString(file, StandardCharsets.UTF_8).lines().toList())
                : Optional.empty();
    }

    /**
     * Notes what is trained; folds of a run that was begun are added to those that were asked for before.
     *
     * @throws IOException if a run of another configuration was begun here
     */
    void begin(RunPlan plan) throws IOException {
        List<String> asked = plan.folds().stream().map(FoldPlan::name).toList();
        if (!exists()) {
            keep(asked, plan);
            ConfigFile.write(folder.resolve(CONFIG), plan.settings()); // last: with it the run is begun
            return;
        }
        requireSame(plan.settings());
        Optional<List<String>> before = folds();
        if (before.isPresent()) {
            keep(Stream.concat(before.get().stream(), asked.stream()).toList(), plan);
        }
    }

    private void keep(List<String> asked, RunPlan plan) throws IOException {
        Path file = folder.resolve(FOLDS);
        List<String> some = plan.names().stream().filter(asked::contains).toList();
        if (some.equals(plan.names())) {
            Files.deleteIfExists(file);
        } else {
            AtomicTextFile.write(file, text -> text.write(String.join("\n", some) + "\n"));
        }
    }

    /** @throws IOException naming what differs, if the run that was begun here has another configuration */
    void requireSame(Settings wanted) throws IOException {
        Map<String, Setting> found = settings().values();
        for (Setting setting : wanted.values().values()) {
            String other = Optional.ofNullable(found.get(setting.key()))
                    .map(Setting::text)
                    .orElse("nothing");
            // Weights may have moved on this machine; the models tell whether they are the same.
            if (Keys.decides(setting.key()) && !setting.text().equals(other)) {
                throw new IOException(folder.resolve(CONFIG) + ": expected " + setting.key() + " " + setting.text()
                        + ", found " + other
                        + "; resume with the original settings, or start a new run in another folder");
            }
        }
    }
}
