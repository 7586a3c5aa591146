package org.gramian.benchmarks;

import java.util.Arrays;
import java.util.stream.Collectors;

/** Execution modes of PyTorch. */
public enum PythonMode {
    /** Eager mode. */
    EAGER("python"),
    /** Forward and backward through {@code torch.compile}; optimizer and retraction in eager mode. */
    COMPILED("python-compiled");

    private final String text;

    PythonMode(String text) {
        this.text = text;
    }

    /** Returns the name of the side on the command line and in tables. */
    public String text() {
        return text;
    }

    /**
     * Parses a name.
     *
     * @throws IllegalArgumentException if the name is unknown; the message lists the names
     */
    public static PythonMode parse(String text) {
        return Arrays.stream(values())
                .filter(mode -> mode.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown side '" + text + "'; expected one of "
                        + Arrays.stream(values()).map(PythonMode::text).collect(Collectors.joining(", "))));
    }
}
