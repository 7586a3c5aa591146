package org.gramian.serve;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** Options of a server. */
public record ServeOptions(String host, int port, Optional<String> token, Limits limits) {
    public static final String DEFAULT_HOST = "localhost";
    public static final int DEFAULT_PORT = 8080;

    private static final Set<String> LOCAL = Set.of("localhost", "127.0.0.1", "::1", "[::1]");
    private static final int LARGEST_PORT = 65_535;

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

    public static ServeOptions local(int port) {
        return new ServeOptions(DEFAULT_HOST, port, Optional.empty(), Limits.DEFAULT);
    }

    /** Returns whether only this machine can reach the server. */
    public boolean isLocal() {
        return LOCAL.contains(host);
    }

    /** Limits of a server: of one request, of all requests together, and of connections. */
    public record Limits(Upload upload, Load load, Connections connections) {
        public static final Limits DEFAULT = new Limits(Upload.DEFAULT, Load.DEFAULT);

        public Limits(Upload upload, Load load) {
            this(upload, load, Connections.DEFAULT);
        }

        /** Limits of one request. */
        public record Upload(int bytes, int images, long pixels, Duration time) {
            /** 20 MB, 32 images, 50 megapixels (up to 1 GB while decoding), 30 s. */
            public static final Upload DEFAULT = new Upload(20_000_000, 32, 50_000_000, Duration.ofSeconds(30));
        }

        /** Limits of all requests together. */
        public record Load(int images, int batch, Duration answer, Duration grace) {
            /** 256 images; batches of 16 crops, since larger ones are hardly faster on a CPU; 30 s each. */
            public static final Load DEFAULT = new Load(256, 16, Duration.ofSeconds(30), Duration.ofSeconds(30));
        }

        /**
         * Limits of connections.
         *
         * @param header timeout for receiving the header of a request, counted from the opening of the connection or the end of the
         *     response before
         */
        public record Connections(int perClient, Duration header) {
            /** A quarter of all connections; 15 s. */
            public static final Connections DEFAULT = new Connections(256, Duration.ofSeconds(15));
        }
    }
}
