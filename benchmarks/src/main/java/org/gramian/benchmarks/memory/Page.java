package org.gramian.benchmarks.memory;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The measured methods as Markdown. */
final class Page {
    private static final List<String> HEADINGS =
            List.of("method", "pooling", "descriptor", "parameters, MiB", "peak, MiB", "largest tensor");

    private Page() {}

    /**
     * The whole page.
     *
     * @param command what was typed
     * @param input what the features are, in words
     * @param rows cells by method
     * @param facts of the machine, by name
     */
    static String of(String command, String input, Map<String, List<String>> rows, Map<String, String> facts) {
        StringBuilder text = new StringBuilder("# Peak memory of every method\n\n```\n" + command + "\n```\n\n");
        text.append("""
                Forward and backward pass of each method, including the gradient of the features, on features %s.
                *Peak* comes on top of the features and the parameters of the pooling. The last column is the largest tensor
                between two stages of the forward pass. No second-order method makes a matrix of positions by positions.

                """.formatted(input));
        text.append(row(HEADINGS)).append("|---|---|---:|---:|---:|---|\n");
        rows.forEach((method, cells) -> text.append("| `" + method + "` ").append(row(cells)));
        text.append("\n| | |\n|---|---|\n");
        facts.forEach((name, fact) -> text.append(row(List.of(name, fact))));
        return text.toString();
    }

    private static String row(List<String> cells) {
        return cells.stream().map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
