package org.gramian.basis;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the valid word nearest to a mistyped one. */
public final class NearestWord {
    private NearestWord() {}

    /** Returns {@code " (did you mean 'x'?)"}, or an empty string if no word is near. */
    public static String suggestion(String typed, Collection<String> words) {
        return of(typed, words).map(word -> " (did you mean '" + word + "'?)").orElse("");
    }

    /** Returns the word with the smallest edit distance, if fewer than half of the letters differ. */
    public static Optional<String> of(String typed, Collection<String> words) {
        return words.stream()
                .min(Comparator.<String>comparingInt(word -> distance(typed, word))
                        .thenComparing(word -> word))
                .filter(word -> 2 * distance(typed, word) < Math.max(3, Math.max(word.length(), typed.length()) + 1));
    }

    /** Returns the edit distance with swaps of neighbours (Damerau–Levenshtein). */
    private static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                cost[i][j] = i == 0 || j == 0 ? i + j : step(cost, a, b, i, j);
            }
        }
        return cost[a.length()][b.length()];
    }

    private static int step(int[][] cost, String a, String b, int i, int j) {
        boolean same = a.charAt(i - 1) == b.charAt(j - 1);
        int best = Math.min(cost[i - 1][j - 1] + (same ? 0 : 1), Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
        boolean swapped = i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(best, cost[i - 2][j - 2] + 1) : best;
    }
}
