package org.gramian.model;

import java.util.Map;
import java.util.Optional;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;

/**
 * Result of one image: what the model computed, or the reason why there is nothing.
 *
 * @since 0.1
 */
public sealed interface ImageResult {
    /** Receives results in the order of the images, on the thread that runs the model. */
    @FunctionalInterface
    interface Listener {
        /**
         * Receives the result of one image.
         *
         * @param index of the image in the list
         */
        void accept(int index, ImageResult result);
    }

    /**
     * Output of the model.
     *
     * @param rows for every requested kind, one row per crop
     * @param prediction if scores were requested from a {@link Classifier}
     */
    record Computed(Map<Engine.Rows, float[][]> rows, Optional<Prediction> prediction) implements ImageResult {
        public Computed {
            rows = Map.copyOf(rows);
        }

        /**
         * Returns the rows of one kind, {@code [crops, length]}.
         *
         * @throws NullPointerException if this kind was not requested
         */
        public float[][] of(Engine.Rows kind) {
            return Engine.rowsOf(rows, kind);
        }

        /** Returns the scores of the image: the log of the mean probability over its crops. */
        public Logits logits() {
            return Logits.ofCrops(of(Engine.Rows.SCORES));
        }

        /** Returns the descriptor of the image: the mean over its crops, summed in float64. */
        public float[] descriptor() {
            float[][] crops = of(Engine.Rows.DESCRIPTORS);
            float[] mean = new float[crops[0].length];
            for (int i = 0; i < mean.length; i++) {
                double sum = 0;
                for (float[] crop : crops) {
                    sum += crop[i];
                }
                mean[i] = (float) (sum / crops.length);
            }
            return mean;
        }

        /** Returns the prediction from scores and, where the card has an {@link OpenSet}, distances. */
        public Prediction toPrediction(ModelCard card) {
            float[][] distances = rows.get(Engine.Rows.DISTANCES);
            Prediction plain = Prediction.of(logits(), card);
            return distances == null ? plain : plain.withDistance(OpenSet.nearest(distances), card);
        }

        /** Returns this result with its prediction, or a failure if a score is not finite. */
        ImageResult predicted(ModelCard card) {
            try {
                return new Computed(rows, Optional.of(toPrediction(card)));
            } catch (IllegalArgumentException notFinite) {
                return new Failed(Optional.empty(), String.valueOf(notFinite.getMessage()));
            }
        }
    }

    /**
     * No output.
     *
     * @param problem why the image is unreadable; empty if it is readable and the model's scores are not finite
     * @param reason a sentence: what was expected, what was found
     */
    record Failed(Optional<Problem> problem, String reason) implements ImageResult {
        /** The {@link #kind} of a readable image with scores that are not finite. */
        public static final String NOT_FINITE = "NOT_FINITE";

        static Failed of(Unreadable unreadable) {
            return new Failed(Optional.of(unreadable.problem()), unreadable.reason());
        }

        /** Returns the name of the {@link Problem}, or {@value #NOT_FINITE}. */
        public String kind() {
            return problem.map(Problem::name).orElse(NOT_FINITE);
        }

        /**
         * Returns the problem of an unreadable image.
         *
         * @throws java.util.NoSuchElementException if the image is readable
         */
        public Unreadable unreadable() {
            return new Unreadable(problem.orElseThrow(), reason);
        }
    }
}
