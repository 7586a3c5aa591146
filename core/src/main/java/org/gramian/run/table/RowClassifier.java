package org.gramian.run.table;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Method;
import org.gramian.pooling.Methods;
import org.gramian.run.config.Key;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Origin;
import org.gramian.run.config.Setting;
import org.gramian.run.config.Settings;

/**
 * Classifier of a row, and the settings of the table that do not apply to it: a closed-form solver has no epochs, no label
 * smoothing and no normalization of logits.
 *
 * @param row the row
 * @param common settings of the table
 */
record RowClassifier(TableRow row, Settings common) {
    /** Keys of training by epochs, with their value for a solver. */
    private static final Map<Key<?>, Object> WITHOUT = Map.of(
            Keys.LOGIT_NORM,
            false,
            Keys.STAGE1_EPOCHS,
            0,
            Keys.STAGE2_EPOCHS,
            0,
            Keys.LABEL_SMOOTHING,
            0.0,
            Keys.DROPOUT,
            0.0);

    /** Returns the solver; empty for softmax, which is trained by epochs. */
    Optional<LinearSolver> solver() {
        return read(text());
    }

    private String text() {
        String name = Keys.CLASSIFIER.name();
        return Optional.ofNullable(row.own().get(name))
                .or(() -> Optional.ofNullable(common.values().get(name)).map(Setting::text))
                .or(() -> Methods.find(row.pooling()).map(Method::classifier))
                .orElse(Method.SOFTMAX);
    }

    private static Optional<LinearSolver> read(String text) {
        return Settings.NONE.with(Keys.CLASSIFIER.name(), text, Origin.CODE).get(Keys.CLASSIFIER);
    }

    /** Returns the settings of the table that do not apply to this row. */
    List<Setting> refused() {
        List<Setting> refused = new ArrayList<>();
        if (solver().isPresent()) {
            for (Key<?> key : Keys.all()) {
                Setting requested = common.values().get(key.name());
                if (requested != null
                        && WITHOUT.containsKey(key)
                        && !common.find(key).equals(Optional.of(WITHOUT.get(key)))) {
                    refused.add(requested);
                }
            }
        }
        return refused;
    }

    /** Returns the settings of the table that apply to this row. */
    Settings fitting() {
        Map<String, Setting> rest = new LinkedHashMap<>(common.values());
        refused().forEach(setting -> rest.remove(setting.key()));
        return new Settings(rest);
    }

    /** Returns the settings of a table without the classifier and those that apply to some classifiers only. */
    static Settings leftOpen(Settings common) {
        Map<String, Setting> rest = new LinkedHashMap<>(common.values());
        rest.remove(Keys.CLASSIFIER.name());
        WITHOUT.keySet().forEach(key -> rest.remove(key.name()));
        return new Settings(rest);
    }

    /** Returns a title that names the classifier if it is not that of the method. */
    String titled(String title) {
        Optional<Method> method =
                Methods.find(row.name()).filter(some -> some.name().equals(row.pooling()));
        if (method.isEmpty() || read(method.get().classifier()).equals(solver())) {
            return title;
        }
        return title + ", " + solver().map(LinearSolver::text).orElse(Method.SOFTMAX);
    }
}
