package org.gramian.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.Settings;
import org.gramian.run.config.Settings.Setting;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The configuration files of a run's folder: {@value #CONFIG} with every value and its origin, and {@value #FOLDS} with the names of
 * the selected folds, a line each, if these are not all.
 */
public record ExistingRun(Path folder) {
    public static final String CONFIG = "config.yaml";

    private static final String FOLDS = "folds.txt";

    private static final String SAMPLE = "sample.json";

    private static final JsonMapper MAPPER = new JsonMapper();

    /**
     * The images of a run that did not use all of them.
     *
     * @param planned number of sampled images; the split is that of these
     * @param used number of them whose features were computed in time; at first all
     */
    public record Sampled(int planned, int used, int all) {}

    /** Returns the sample of the run; empty if it uses all images. */
    public Optional<Sampled> sample() throws IOException {
        Path file = folder.resolve(SAMPLE);
        try {
            return Files.exists(file) ? Optional.of(MAPPER.readValue(file.toFile(), Sampled.class)) : Optional.empty();
        } catch (JacksonException damaged) {
            throw new IOException(
                    file + ": expected the sample of the run, found a damaged file; start a new run in another folder",
                    damaged);
        }
    }

    void keep(Sampled sample) throws IOException {
        AtomicFile.put(folder.resolve(SAMPLE), partial -> Files.write(partial, MAPPER.writeValueAsBytes(sample)));
    }

    public boolean exists() {
        return Files.isRegularFile(folder.resolve(CONFIG));
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
        return Files.exists(file)
                ? Optional.of(
                        Files.readString(file, StandardCharsets.UTF_8).lines().toList())
                : Optional.empty();
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
}
