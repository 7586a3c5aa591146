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
 * Which classifier a row has in its table, and what of the table's wishes has no place beside it: one that is solved for has no
 * epochs, no softened labels and no normalization of scores.
 *
 * @param row the row
 * @param common what the table asks for
 */
record RowClassifier(TableRow row, Settings common) {
    /** Keys of training, with what holds beside a classifier that is solved for. */
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

    /** What solves for it; nothing for softmax, which is trained. */
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

    /** What the table asks for and this row cannot have. */
    List<Setting> refused() {
        List<Setting> refused = new ArrayList<>();
        if (solver().isPresent()) {
            for (Key<?> key : Keys.all()) {
                Setting asked = common.values().get(key.name());
                if (asked != null
                        && WITHOUT.containsKey(key)
                        && !common.find(key).equals(Optional.of(WITHOUT.get(key)))) {
                    refused.add(asked);
                }
            }
        }
        return refused;
    }

    /** What the table asks for, less what this row cannot have. */
    Settings fitting() {
        Map<String, Setting> rest = new LinkedHashMap<>(common.values());
        refused().forEach(setting -> rest.remove(setting.key()));
        return new Settings(rest);
    }

    /** What a table asks for, but for the classifier and what goes with some only. */
    static Settings leftOpen(Settings common) {
        Map<String, Setting> rest = new LinkedHashMap<>(common.values());
        rest.remove(Keys.CLASSIFIER.name());
        WITHOUT.keySet().forEach(key -> rest.remove(key.name()));
        return new Settings(rest);
    }

    /** A title under which the row is not taken for its method where it has another classifier than that. */
    String titled(String title) {
        Optional<Method> method =
                Methods.find(row.name()).filter(some -> some.name().equals(row.pooling()));
        if (method.isEmpty() || read(method.get().classifier()).equals(solver())) {
            return title;
        }
        return title + ", " + solver().map(LinearSolver::text).orElse(Method.SOFTMAX);
    }
}
