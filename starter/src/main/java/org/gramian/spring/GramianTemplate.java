package org.gramian.spring;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.util.Optional;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.Inspection;
import org.gramian.model.Classifier;
import org.gramian.model.Prediction;

/**
 * Predicts and inspects images, each as an observation {@code gramian.predict} or {@code gramian.inspect}: a timer, and a span where the
 * application traces.
 *
 * <p>Thread-safe: a detector inspects one image at a time.
 *
 * @since 0.1
 */
public final class GramianTemplate {
    /** Side of a blank image. */
    private static final int SIDE = 64;

    private final Optional<Classifier> classifier;
    private final Optional<Detector> detector;
    private final ObservationRegistry observations;
    private final Object inspecting = new Object();

    /** Creates a template; the caller closes the classifier and the detector. */
    public GramianTemplate(
            Optional<Classifier> classifier, Optional<Detector> detector, ObservationRegistry observations) {
        this.classifier = classifier;
        this.detector = detector;
        this.observations = observations;
    }

    /**
     * Predicts the class of an image file's content.
     *
     * @throws IOException if it is not a readable image
     * @throws IllegalStateException if there is no classifier
     */
    public Prediction predict(byte[] image) throws IOException {
        Classifier loaded = classifier.orElseThrow(() -> new MissingModelException("Classifier", "gramian.model"));
        return Observation.createNotStarted("gramian.predict", observations)
                .observeChecked(() -> loaded.predict(image));
    }

    /**
     * Inspects an image file's content.
     *
     * @throws IOException if it is not a readable image
     * @throws IllegalStateException if there is no detector
     */
    public Inspection inspect(byte[] image) throws IOException {
        Detector loaded = detector.orElseThrow(() -> new MissingModelException("Detector", "gramian.detector"));
        return Observation.createNotStarted("gramian.inspect", observations).observeChecked(() -> {
            synchronized (inspecting) {
                return loaded.inspect(image);
            }
        });
    }

    /** Computes a blank image by each model, unobserved. */
    void check() {
        BufferedImage blank = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
        classifier.ifPresent(loaded -> loaded.predict(blank));
        synchronized (inspecting) {
            detector.ifPresent(loaded -> loaded.inspect(blank));
        }
    }

    /** Thrown where there is no classifier, or no detector. */
    static final class MissingModelException extends IllegalStateException {
        private static final long serialVersionUID = 1L;

        MissingModelException(String bean, String property) {
            super("expected a " + bean + ", found none; set " + property + " to a run folder or a model");
        }
    }
}
