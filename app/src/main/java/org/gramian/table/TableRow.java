package org.gramian.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Methods.Method;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.PoolingStage;
import org.gramian.run.config.Settings;
import org.gramian.run.config.Settings.Setting;
import org.gramian.run.config.TrainConfig;

/** One row of a table: a method or a custom pooling, with its own settings. */
public record TableRow(String name, String pooling, Settings own) {
    /** Keys that all rows share: results on other images or crops do not compare methods. */
    private static final List<String> SHARED = List.of(
            "data.layout",
            "data.protocol",
            "data.crops",
            "data.test-crops",
            "data.validation",
            "data.near-duplicates",
            "seed",
            "accelerate");

    /** Keys of training by epochs, with their value for a closed-form solver. */
    private static final Map<String, Object> WITHOUT_EPOCHS = Map.of(
            "network.logit-norm",
            false,
            "stage1.epochs",
            0,
            "stage2.epochs",
            0,
            "optimizer.label-smoothing",
            0.0,
            "network.dropout",
            0.0);

    /** No stage of a pooling has an equals sign before its first colon. */
    private static final Pattern LABELLED = Pattern.compile("([^=:/,]+)=(.+)", Pattern.DOTALL);

    /** A name, not a pooling of several stages. */
    private static final Pattern WORD = Pattern.compile("[^:/,+\\[\\]]+");

    public TableRow {
        if (folder(name).isEmpty()) {
            throw new IllegalArgumentException(
                    "expected a label with a letter or a digit for a row, found " + QuotedText.text(name));
        }
    }

    /**
     * Parses rows such as {@code average,bcnn,mine=conv:64/covariance/log/triu}: names of methods, poolings, and poolings under a
     * label. Poolings contain commas, e.g. {@code rbf:sigma=mean,jitter=1e-4}: the longest piece that is a row is taken.
     */
    public static List<TableRow> parse(String text) {
        List<TableRow> rows = new ArrayList<>();
        List<String> pieces = Arrays.asList(text.split(",", -1));
        for (int from = 0; from < pieces.size(); ) {
            int to = pieces.size();
            while (to > from + 1 && !isRow(String.join(",", pieces.subList(from, to)))) {
                to--;
            }
            rows.add(row(String.join(",", pieces.subList(from, to))));
            from = to;
        }
        return rows;
    }

    private static boolean isRow(String text) {
        try {
            row(text);
            return true;
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    private static TableRow row(String piece) {
        String text = piece.strip();
        if (text.isEmpty()) {
            throw new IllegalArgumentException("expected names of methods joined by commas, found an empty one");
        }
        Optional<Method> method = Methods.find(text);
        if (method.isPresent()) {
            return new TableRow(method.get().name(), method.get().name(), Settings.NONE);
        }
        Matcher labelled = LABELLED.matcher(text);
        String pooling = labelled.matches() ? labelled.group(2).strip() : text;
        String label = labelled.matches() ? labelled.group(1).strip() : text;
        requirePooling(pooling);
        return new TableRow(label, pooling, Settings.NONE);
    }

    private static void requirePooling(String text) {
        try {
            Pooling.parse(text);
        } catch (IllegalArgumentException wrong) {
            List<String> stages =
                    PoolingStage.all().stream().map(PoolingStage.Syntax::name).toList();
            List<String> words =
                    Stream.concat(Methods.names().stream(), stages.stream()).toList();
            throw new IllegalArgumentException(
                    WORD.matcher(text).matches() && !stages.contains(text)
                            ? "unknown method or stage " + QuotedText.text(text) + NearestWord.suggestion(text, words)
                                    + "; 'gramian methods' and 'gramian doctor --help' list them"
                            : "expected a method or a pooling, found " + QuotedText.text(text) + ": "
                                    + wrong.getMessage(),
                    wrong);
        }
    }

    /** Returns the same row with one more setting of its own. */
    public TableRow with(String key, String text) {
        if (key.equals("network.pooling")) {
            throw new IllegalArgumentException(key + " defines a row: write it as a separate row, LABEL=" + text);
        }
        if (SHARED.contains(key)) {
            throw new IllegalArgumentException(
                    key + " must be the same for all rows: results on other images or crops are not comparable");
        }
        return new TableRow(name, pooling, own.with(key, text, "row " + name));
    }

    /** Returns the settings of this row: those of the table that apply to its classifier, and its own. */
    Settings requested(Settings common) {
        Map<String, Setting> fitting = new LinkedHashMap<>(common.values());
        refused(common).forEach(setting -> fitting.remove(setting.key()));
        boolean faithful = common.find(TrainConfig.FIDELITY)
                .filter(fidelity -> fidelity != Fidelity.CORRECTED)
                .isPresent();
        return own.over(new Settings(fitting))
                .with("network.pooling", pooling, "row " + name)
                .orElse("network.classifier", solver(common), "row " + name)
                // not by the fidelity of a row: all rows have the same splits
                .orElse("data.near-duplicates", !faithful, "the same for all rows")
                .orElse("gallery", false, "tables have none by default");
    }

    /** Returns the solver; empty for softmax, which is trained by epochs. */
    private Optional<LinearSolver> solver(Settings common) {
        return own.over(common)
                .find(TrainConfig.CLASSIFIER)
                .orElseGet(() -> Methods.find(pooling).flatMap(TableRow::solver));
    }

    private static Optional<LinearSolver> solver(Method method) {
        return Settings.NONE.with("network.classifier", method.classifier()).get(TrainConfig.CLASSIFIER);
    }

    /** Returns the settings of the table that do not apply to this row: a solver has no epochs and no label smoothing. */
    List<Setting> refused(Settings common) {
        if (solver(common).isEmpty()) {
            return List.of();
        }
        return common.values().values().stream()
                .filter(setting -> WITHOUT_EPOCHS.containsKey(setting.key())
                        && !setting.value().equals(WITHOUT_EPOCHS.get(setting.key())))
                .toList();
    }

    /** Returns the settings of a table without the classifier and those that apply to some classifiers only. */
    static Settings withoutClassifier(Settings common) {
        Map<String, Setting> rest = new LinkedHashMap<>(common.values());
        rest.remove("network.classifier");
        rest.keySet().removeAll(WITHOUT_EPOCHS.keySet());
        return new Settings(rest);
    }

    /**
     * Returns the title: that of the method, with the classifier if it is not that of the method. A tail is named after its
     * backbone (VGG-16's as in the paper), and the convolution before it has as many channels as the layer.
     *
     * @param backbone empty if it is unknown
     */
    String title(Settings common, Optional<Backbone> backbone) {
        Optional<Method> method = Methods.find(name).filter(_ -> name.equals(pooling));
        if (method.isEmpty()) { // a custom pooling may have the label of a method
            return name;
        }
        String tail = backbone.map(network -> network.name().equals("vgg16") ? "VGG-16" : "tail of " + network.name())
                .orElse("tail");
        String text = switch (name) {
            case "tail" -> tail;
            case "paper-tail" -> backbone.map(Backbone::channels).orElse(512L) + " conv1×1 + " + tail;
            default -> method.get().title();
        };
        Optional<LinearSolver> solver = solver(common);
        return solver.equals(solver(method.get()))
                ? text
                : text + ", " + solver.map(LinearSolver::text).orElse(Method.SOFTMAX);
    }

    String folder() {
        return folder(name);
    }

    /** Returns a name that is valid in every file system. */
    static String folder(String name) {
        return name.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}._-]+", "-")
                .replaceAll("^[.-]+|[.-]+$", "");
    }
}
