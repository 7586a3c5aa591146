package org.gramian.evaluate;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.gramian.basis.QuotedText;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Engine;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.model.RowSink;
import org.gramian.model.Scoring;

/**
 * Measures a model on labelled images: every crop is scored, the crops of an image become one answer by {@link
 * Logits#ofCrops}, and the answers an {@link Evaluation} under the model's own temperature.
 *
 * <p>Classes are matched by name; truths and scores of the evaluation are in the order of the model's classes, whatever
 * the order of the dataset's. Images that cannot be read are named and do not count.
 *
 * @param scoring the model, and how it sees images
 * @param card the model's classes and temperature
 */
public record Evaluator(Scoring scoring, ModelCard card) {
    /** Of a model that sees images as its card says. */
    public static Evaluator of(Model model, ModelCard card, Function<Path, ReadResult> reader) {
        int scores = model.head().classes();
        if (scores != card.classes().size()) {
            throw new IllegalArgumentException("expected a name for each of the model's " + scores + " scores, found "
                    + card.classes().size());
        }
        return new Evaluator(Scoring.of(model, card, reader), card);
    }

    /**
     * Measures on some images of a dataset.
     *
     * @param indexes into {@link Dataset#samples}, at least one
     * @param setting what these images are, as a result will be known by
     * @param progress told the number of images done so far
     * @throws DatasetException if the dataset has a class that the model does not know, or no image can be read
     */
    public Measurement measure(Dataset dataset, List<Integer> indexes, Setting setting, LongConsumer progress)
            throws DatasetException {
        ClassMapping mapping = ClassMapping.of(dataset, card.classes());
        List<Sample> samples = indexes.stream().map(dataset.samples()::get).toList();
        Collected collected = new Collected(samples, mapping);
        scoring.run(samples, Engine.Rows.SCORES, collected, progress);
        if (collected.predictions.isEmpty()) {
            throw new DatasetException(dataset.root(), nothing(collected.unreadable));
        }
        Evaluation evaluation = new Evaluation(setting, card.classes(), collected.predictions, temperature());
        return new Measurement(evaluation, collected.unreadable);
    }

    /** A card keeps the number alone: 1 stands for no calibration. */
    private Temperature temperature() {
        return card.temperature() == 1
                ? Temperature.NONE
                : new Temperature(card.temperature(), Temperature.Outcome.FITTED);
    }

    private static String nothing(SortedMap<String, String> unreadable) {
        if (unreadable.isEmpty()) {
            return "expected test images, found none";
        }
        Map.Entry<String, String> first = unreadable.entrySet().iterator().next();
        return "expected readable test images, found %d unreadable ones; the first is %s: %s"
                .formatted(unreadable.size(), QuotedText.text(first.getKey()), first.getValue());
    }

    /** Makes predictions of rows as they come. */
    private static final class Collected implements RowSink {
        private final List<Sample> samples;
        private final ClassMapping mapping;
        private final List<Prediction> predictions = new ArrayList<>();
        private final SortedMap<String, String> unreadable = new TreeMap<>();

        Collected(List<Sample> samples, ClassMapping mapping) {
            this.samples = samples;
            this.mapping = mapping;
        }

        @Override
        public void rows(int sample, float[][] rows) {
            Sample image = samples.get(sample);
            predictions.add(new Prediction(image.name(), mapping.truth(image), Logits.ofCrops(rows)));
        }

        @Override
        public void unreadable(int sample, Unreadable problem) {
            unreadable.put(samples.get(sample).name(), problem.reason());
        }
    }
}
