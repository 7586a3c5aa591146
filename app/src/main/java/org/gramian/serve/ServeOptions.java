package org.gramian.serve;

import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * Options of a server.
 *
 * @param port 0 for any free port
 * @param token required by {@code /v1} and {@code /metrics} as {@code Authorization: Bearer TOKEN}, if present
 */
public record ServeOptions(String host, int port, Optional<String> token, Limits limits) {
    public static final String DEFAULT_HOST = "localhost";
    public static final int DEFAULT_PORT = 8080;

    private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "::1", "[::1]");
    private static final int LARGEST_PORT = 65_535;

    /** @throws IllegalArgumentException if the port is out of range, or the token cannot be sent in a header */
    public ServeOptions {
        if (port < 0 || port > LARGEST_PORT) {
            throw new IllegalArgumentException("expected a port from 0 to " + LARGEST_PORT + ", found " + port);
        }
        if (token.filter(text -> text.isEmpty() || !text.chars().allMatch(c -> c > ' ' && c < 0x7f))
                .isPresent()) {
            throw new IllegalArgumentException(
                    "expected a token of printable ASCII characters without spaces, found other characters or an empty"
                            + " token");
        }
    }

    static void requirePositive(String what, long... limits) {
        if (!LongStream.of(limits).allMatch(limit -> limit > 0)) {
            throw new IllegalArgumentException(
                    "expected limits of at least 1 for " + what + ", found " + Arrays.toString(limits));
        }
    }

    public static ServeOptions local(int port) {
        return new ServeOptions(DEFAULT_HOST, port, Optional.empty(), Limits.DEFAULT);
    }

    /** Returns whether only this machine can reach the server. */
    public boolean isLocal() {
        return LOCAL.contains(host);
    }
}
