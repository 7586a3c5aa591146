package org.gramian.serve;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.QuotedText;

/**
 * What a request wants to know of its images, from its address.
 *
 * @param top classes to name
 * @param explain whether to show where the decision comes from
 * @param nearest training images to show that are most alike
 */
record PredictionRequest(int top, boolean explain, int nearest) {
    private static final int DEFAULT_TOP = 5;
    private static final int MOST_TOP = 1_000;
    private static final int MOST_NEAREST = 50;

    /** Of the parameters after the question mark. */
    static PredictionRequest of(Map<String, List<String>> parameters) throws HttpError {
        only(parameters, List.of("top", "explain", "nearest"));
        return new PredictionRequest(
                number(parameters, "top", DEFAULT_TOP, MOST_TOP),
                yes(parameters, "explain"),
                number(parameters, "nearest", 0, MOST_NEAREST));
    }

    /** Refuses parameters that would have no effect. */
    static void only(Map<String, List<String>> parameters, List<String> known) throws HttpError {
        for (Map.Entry<String, List<String>> given : parameters.entrySet()) {
            if (!known.contains(given.getKey()) || given.getValue().size() != 1) {
                throw HttpError.wrong("expected "
                        + (known.isEmpty() ? "no parameters" : "only " + String.join(", ", known) + ", each once")
                        + ", found " + QuotedText.text(given.getKey()));
            }
        }
    }

    private static Optional<String> text(Map<String, List<String>> parameters, String name) {
        return Optional.ofNullable(parameters.get(name)).map(List::getFirst);
    }

    private static boolean yes(Map<String, List<String>> parameters, String name) throws HttpError {
        String text = text(parameters, name).orElse("false");
        if (!text.equals("true") && !text.equals("false")) {
            throw HttpError.wrong("expected " + name + "=true or " + name + "=false, found " + QuotedText.text(text));
        }
        return text.equals("true");
    }

    private static int number(Map<String, List<String>> parameters, String name, int otherwise, int most)
            throws HttpError {
        Optional<String> text = text(parameters, name);
        if (text.isEmpty()) {
            return otherwise;
        }
        int least = Math.min(otherwise, 1);
        try {
            int number = Integer.parseInt(text.get());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException _) {
            // said below, as a number outside the range is
        }
        throw HttpError.wrong("expected " + name + " as a whole number from " + least + " to " + most + ", found "
                + QuotedText.text(text.get()));
    }
}
