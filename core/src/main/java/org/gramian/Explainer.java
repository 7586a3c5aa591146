package org.gramian;

import java.nio.file.Path;
import org.gramian.explain.Explanation;
import org.gramian.explain.HeatImage;
import org.gramian.explain.gradient.CroppedImage;
import org.gramian.explain.gradient.GradientExplainer;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.UnreadableImageException;

/**
 * Explains the score of a class for an image by a heat map, and by the pairs of feature maps that contribute most.
 *
 * <pre>{@code
 * try (Classifier classifier = Classifier.load(Path.of("run"), Device.CPU)) {
 *     Explanation why = Explainer.of(classifier).explain(Path.of("photo.jpg"));
 *     ImageIO.write(HeatImage.overlay(why.heat()), "png", new File("heat.png"));
 * }
 * }</pre>
 *
 * <p>The heat map attributes the score by integrated gradients, see {@code docs/explain.md}; {@link HeatImage} draws it. Thread-safe.
 *
 * @since 0.1
 */
public final class Explainer {
    private final Classifier classifier;
    private final GradientExplainer explainer;

    private Explainer(Classifier classifier, GradientExplainer explainer) {
        this.classifier = classifier;
        this.explainer = explainer;
    }

    /**
     * Returns the explainer of a classifier, which the caller closes.
     *
     * @throws IllegalArgumentException if the classifier does not run in libtorch, or its pooling has no gradient
     */
    public static Explainer of(Classifier classifier) {
        return of(classifier, GradientExplainer.DEFAULT_PAIRS);
    }

    /**
     * Returns the explainer of a classifier, which the caller closes.
     *
     * @param pairs number of pairs of feature maps to list; 0 for the heat map alone
     * @throws IllegalArgumentException if the classifier does not run in libtorch, or its pooling has no gradient
     */
    public static Explainer of(Classifier classifier, int pairs) {
        if (!(classifier.engine() instanceof Engine.OfModel libtorch)) {
            throw new IllegalArgumentException(
                    "expected a classifier in libtorch, which computes gradients, found one in "
                            + "another runtime; load the model with Classifier.load(path, Device.CPU)");
        }
        return new Explainer(classifier, new GradientExplainer(libtorch.model(), classifier.card(), pairs));
    }

    /**
     * Explains the score of the predicted class, on the crops that the model was trained on.
     *
     * @throws UnreadableImageException if the file is not a readable image
     */
    public Explanation explain(Path file) throws UnreadableImageException {
        return explain(classifier.decode(ImageSource.of(file)));
    }

    /** Explains the score of the predicted class. */
    public Explanation explain(Image image) {
        return explainer.explain(CroppedImage.of(image, classifier.card()));
    }

    /**
     * Explains the score of a class.
     *
     * @throws IllegalArgumentException if the model does not know the class
     */
    public Explanation explain(Image image, String className) {
        return explainer.explain(
                CroppedImage.of(image, classifier.card()), classifier.card().label(className));
    }
}
