package org.gramian.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.backbone.Backbone;
import org.gramian.pooling.Method;
import org.gramian.pooling.Words;
import org.gramian.tensor.Shape;

/**
 * Methods as text for people.
 *
 * @param out where it goes
 * @param backbone what the methods stand on
 * @param images how many there are to train on
 */
record MethodsText(PrintWriter out, Backbone backbone, int images) {
    /** A word of a text: not what follows its colon, a comma or an equals sign. */
    private static final Pattern WORD = Pattern.compile("(?<![a-z0-9.=:,-])[a-z][a-z0-9-]*");

    private String surroundings() {
        int side = backbone.about().size();
        Shape features = backbone.features(side, side);
        return "on " + backbone.name() + " at " + backbone.layer() + " (" + features.at(0) + " channels, "
                + features.at(1)
                + "×" + features.at(2) + " positions of images of " + side + "×" + side + "), "
                + images + (images == 1 ? " training image" : " training images");
    }

    /** One line each, family by family. */
    void printAll(List<MethodRow> rows) {
        List<List<String>> cells = new ArrayList<>();
        for (MethodRow row : rows) {
            cells.add(List.of(
                    row.name(),
                    row.title(),
                    row.descriptorText(),
                    row.parametersText(),
                    row.classifier(),
                    row.unfit() == null ? row.pooling() : row.pooling() + "  does not fit"));
        }
        List<String> lines = new TextTable(
                        List.of("name", "title", "descriptor", "parameters", "classifier", "pooling"), cells)
                .lines();
        out.println(lines.getFirst());
        for (Method.Family family : Method.Family.values()) {
            if (rows.stream().anyMatch(row -> row.family().equals(family.text()))) {
                out.printf("%n%s%n", family.text());
            }
            for (int i = 0; i < rows.size(); i++) {
                if (rows.get(i).family().equals(family.text())) {
                    out.println(lines.get(i + 1));
                }
            }
        }
        printUnfit(rows);
        out.printf(
                "%nSizes %s;%nchange them with --backbone and --layer. Parameters are those of the pooling,",
                surroundings());
        out.printf(" without backbone and classifier.%n'gramian methods NAME' shows one in full.%n");
    }

    /** Why some do not fit, below the table: a reason is longer than its lines. */
    private void printUnfit(List<MethodRow> rows) {
        List<MethodRow> unfit = rows.stream().filter(row -> row.unfit() != null).toList();
        if (!unfit.isEmpty()) {
            out.printf("%ndoes not fit%n");
            unfit.forEach(row -> out.printf("%s: %s%n", row.name(), row.unfit()));
        }
    }

    /** All about one, with what its words mean. */
    void printOne(MethodRow row) {
        String line = "%-12s %s%n";
        out.printf(line, row.name(), row.title());
        out.printf(line, "family", row.family());
        out.printf(line, "formula", row.formula());
        out.printf(line, "reference", row.reference());
        out.printf(line, "pooling", row.pooling());
        out.printf(line, "classifier", row.classifier());
        out.println();
        if (row.unfit() == null) {
            if (!row.pooling().equals(row.settled())) {
                out.printf(line, "resolved", row.settled());
            }
            out.printf(line, "descriptor", row.descriptorText() + " values");
            out.printf(
                    line,
                    "parameters",
                    MethodRow.number(row.trained()) + " trained, " + MethodRow.number(row.fitted())
                            + " fitted to data");
        } else {
            out.printf(line, "does not fit", row.unfit());
        }
        out.printf(line, "", surroundings());
        out.println();
        for (Words.Word word : words(row.pooling())) {
            out.printf(line, word.name(), word.meaning());
            if (!word.form().equals(word.name())) {
                out.printf(line, "", "  syntax: " + word.form());
            }
        }
    }

    /** The words of a pooling's text, each once, in their order. */
    private static List<Words.Word> words(String text) {
        List<Words.Word> found = new ArrayList<>();
        Matcher matcher = WORD.matcher(text);
        while (matcher.find()) {
            Words.all().stream()
                    .filter(word -> word.name().equals(matcher.group()) && !found.contains(word))
                    .forEach(found::add);
        }
        return found;
    }
}
