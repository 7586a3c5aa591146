package org.gramian.serve;

import java.time.Duration;

/** Limits of a server: of one request, of all requests together, and of connections. */
public record Limits(Upload upload, Load load, Connections connections) {
    public static final Limits DEFAULT = new Limits(Upload.DEFAULT, Load.DEFAULT);

    public Limits(Upload upload, Load load) {
        this(upload, load, Connections.DEFAULT);
    }

    /**
     * Limits of one request.
     *
     * @param pixels maximum pixels of an image, checked before it is decoded
     * @param time timeout for receiving a body, and for sending a response
     */
    public record Upload(int bytes, int images, long pixels, Duration time) {
        /** 20 MB, 32 images, 50 megapixels (up to 1 GB while decoding), 30 s. */
        public static final Upload DEFAULT = new Upload(20_000_000, 32, 50_000_000, Duration.ofSeconds(30));

        public Upload {
            ServeOptions.requirePositive("request bodies", bytes, images, pixels, time.toMillis());
        }
    }

    /**
     * Limits of all requests together.
     *
     * @param images maximum accepted images without a response
     * @param grace timeout for finishing accepted requests at shutdown
     */
    public record Load(int images, int batch, Duration answer, Duration grace) {
        /** 256 images; batches of 16 crops, since larger ones are hardly faster on a CPU; 30 s each. */
        public static final Load DEFAULT = new Load(256, 16, Duration.ofSeconds(30), Duration.ofSeconds(30));

        public Load {
            ServeOptions.requirePositive("the load", images, batch, answer.toMillis(), grace.toMillis());
        }
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

        public Connections {
            ServeOptions.requirePositive("connections", perClient, header.toMillis());
        }
    }
}
