package org.gramian.benchmarks;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The ways in which PyTorch runs the same program. */
public enum PythonMode {
    /** Operator by operator. */
    EAGER("python"),
    /** Forward and backward through {@code torch.compile}; optimizer and retraction as they are. */
    COMPILED("python-compiled");

    private final String text;

    PythonMode(String text) {
        this.text = text;
    }

    /** The name of the side on the command line and in tables. */
    public String text() {
        return text;
    }

    /**
     * The way of a name.
     *
     * @throws IllegalArgumentException if there is none; the message lists those that there are
     */
    public static PythonMode parse(String text) {
        return Arrays.stream(values())
                .filter(mode -> mode.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown side '" + text + "'; expected one of "
                        + Arrays.stream(values()).map(PythonMode::text).collect(Collectors.joining(", "))));
    }
}
