package org.gramian.run.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.pooling.Methods;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.PoolingStage;

/**
 * Parses rows of the command line: {@code average,bcnn,mine=conv:64/covariance/log/triu}, names of methods, poolings, and
 * poolings under a label, joined by commas.
 *
 * <p>Poolings contain commas, e.g. {@code rbf:sigma=mean,jitter=1e-4}: the longest piece that is a row is taken.
 */
public final class RowList {
    /** No stage of a pooling is written with a sign of equality before its first colon. */
    private static final Pattern LABELLED = Pattern.compile("([^=:/,]+)=(.+)", Pattern.DOTALL);

    /** A name of something, and no text of several stages. */
    private static final Pattern WORD = Pattern.compile("[^:/,+\\[\\]]+");

    private RowList() {}

    /**
     * Parses the rows of a text.
     *
     * @throws IllegalArgumentException if a piece is neither a method nor a pooling; the message names the nearest method
     */
    public static List<TableRow> parse(String text) {
        List<TableRow> rows = new ArrayList<>();
        List<String> pieces = Arrays.asList(text.split(",", -1));
        for (int from = 0; from < pieces.size(); ) {
            int to = pieces.size();
            Optional<TableRow> row = attempt(pieces, from, to);
            while (row.isEmpty() && to > from + 1) {
                row = attempt(pieces, from, --to);
            }
            rows.add(row.isPresent() ? row.get() : row(pieces.get(from)));
            from = to;
        }
        return rows;
    }

    private static Optional<TableRow> attempt(List<String> pieces, int from, int to) {
        try {
            return Optional.of(row(String.join(",", pieces.subList(from, to))));
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private static TableRow row(String piece) {
        String text = piece.strip();
        if (text.isEmpty()) {
            throw new IllegalArgumentException("expected names of methods joined by commas, found an empty one");
        }
        Optional<TableRow> method = Methods.find(text).map(TableRow::of);
        if (method.isPresent()) {
            return method.get();
        }
        Matcher labelled = LABELLED.matcher(text);
        String pooling = labelled.matches() ? labelled.group(2).strip() : text;
        requirePooling(pooling);
        return TableRow.of(labelled.matches() ? labelled.group(1).strip() : text, pooling);
    }

    private static void requirePooling(String text) {
        try {
            Pooling.parse(text);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    WORD.matcher(text).matches() && !stages().contains(text)
                            ? "unknown method or stage " + QuotedText.text(text) + suggestion(text)
                                    + "; 'gramian methods' and 'gramian pool --help' list them"
                            : "expected a method or a pooling, found " + QuotedText.text(text) + ": "
                                    + wrong.getMessage(),
                    wrong);
        }
    }

    private static String suggestion(String text) {
        List<String> words = new ArrayList<>(Methods.names());
        words.addAll(stages());
        return NearestWord.suggestion(text, words);
    }

    private static List<String> stages() {
        return PoolingStage.all().stream().map(PoolingStage.Syntax::name).toList();
    }
}
