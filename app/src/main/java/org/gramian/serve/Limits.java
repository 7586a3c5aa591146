package org.gramian.serve;

import java.time.Duration;

/**
 * What a server takes on before it refuses.
 *
 * @param upload of one request
 * @param load of all requests together
 */
public record Limits(Upload upload, Load load) {
    /** For images of cameras and a machine of any size. */
    public static final Limits DEFAULT = new Limits(Upload.DEFAULT, Load.DEFAULT);

    /**
     * Limits of one request.
     *
     * @param bytes most bytes of a body
     * @param images most images in one body
     * @param pixels most pixels of an image, looked up in its header before anything is decoded
     * @param time the longest that a body may take to arrive, and an answer to be taken
     */
    public record Upload(int bytes, int images, long pixels, Duration time) {
        /** 20 MB; 32 images; 50 megapixels, which take up to 1 GB while they are decoded; half a minute. */
        public static final Upload DEFAULT = new Upload(20_000_000, 32, 50_000_000, Duration.ofSeconds(30));

        public Upload {
            Check.atLeastOne(bytes, "bytes per request body");
            Check.atLeastOne(images, "images per request");
            Check.atLeastOne(pixels, "pixels per image");
            Check.atLeastOne(time.toMillis(), "milliseconds per request body");
        }
    }

    /**
     * Limits of all requests together.
     *
     * @param images most images that were taken on and are not answered yet
     * @param batch crops that are computed together
     * @param answer the longest that a request waits for its answer
     * @param grace the longest that a server that is to stop waits for the requests that it took on
     */
    public record Load(int images, int batch, Duration answer, Duration grace) {
        /**
         * 256 images; 16 crops at a time, since larger batches are hardly faster on a processor and would hold all who ask at
         * once, so that nothing is decoded meanwhile; half a minute each.
         */
        public static final Load DEFAULT = new Load(256, 16, Duration.ofSeconds(30), Duration.ofSeconds(30));

        public Load {
            Check.atLeastOne(images, "queued images");
            Check.atLeastOne(batch, "crops per batch");
            Check.atLeastOne(answer.toMillis(), "milliseconds per response");
            Check.atLeastOne(grace.toMillis(), "milliseconds for the last responses at shutdown");
        }
    }

    /** Apart, for Java would begin with the defaults of both parts together if one of them asked their owner. */
    private static final class Check {
        private static void atLeastOne(long value, String what) {
            if (value < 1) {
                throw new IllegalArgumentException("expected a limit of at least 1 for " + what + ", found " + value);
            }
        }
    }
}
