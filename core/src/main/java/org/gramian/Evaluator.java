package org.gramian;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.InferencePipeline;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;

/**
 * Evaluates a model on labelled images, under the temperature of its card.
 *
 * <p>Classes are matched by name; truths and scores of the evaluation are in the order of the model's classes, whatever
 * the order of the dataset's. Unreadable images are listed and do not count.
 *
 * @param reader decodes the image files; called by several threads
 */
public record Evaluator(Classifier classifier, Function<Path, ReadResult> reader) {
    /** Result of an evaluation. */
    public record Measurement(Evaluation evaluation, SortedMap<String, String> unreadable) {
        public Measurement {
            unreadable = Collections.unmodifiableSortedMap(new TreeMap<>(unreadable));
        }
    }

    /** Returns the evaluator of a model with the crops of its card. The caller closes the model. */
    public static Evaluator of(Model model, ModelCard card, Function<Path, ReadResult> reader) {
        int scores = model.head().classes();
        if (scores != card.classes().size()) {
            throw new IllegalArgumentException("expected a name for each of the model's " + scores + " scores, found "
                    + card.classes().size());
        }
        return new Evaluator(
                Classifier.of(Engine.of(model), card)
                        .withCrops(card.crops())
                        .withBatch(InferencePipeline.DEFAULT_BATCH),
                reader);
    }

    /**
     * Evaluates images of a dataset.
     *
     * @param indexes into {@link Dataset#samples}, at least one
     */
    public Measurement measure(Dataset dataset, List<Integer> indexes, Setting setting, LongConsumer progress)
            throws DatasetException {
        ModelCard card = classifier.card();
        List<Integer> truths = modelClasses(dataset, card.classes());
        List<Sample> samples = indexes.stream().map(dataset.samples()::get).toList();
        List<ImagePrediction> predictions = new ArrayList<>();
        SortedMap<String, String> unreadable = new TreeMap<>();
        List<ImageSource> images =
                samples.stream().map(sample -> ImageSource.of(sample, reader)).toList();
        classifier.run(images, Set.of(Engine.Rows.SCORES), (index, result) -> {
            Sample sample = samples.get(index);
            switch (result) {
                case ImageResult.Computed computed ->
                    predictions.add(new ImagePrediction(sample.name(), truths.get(sample.label()), computed.logits()));
                case ImageResult.Failed failed
                when failed.problem().isPresent() -> unreadable.put(sample.name(), failed.reason());
                case ImageResult.Failed notFinite ->
                    throw new IllegalArgumentException(QuotedText.bare(sample.name()) + ": " + notFinite.reason()
                            + "; check the image and the model's weights");
            }
            progress.accept(index + 1L);
        });
        if (predictions.isEmpty()) {
            throw new DatasetException(dataset.root(), nothing(unreadable));
        }
        return new Measurement(new Evaluation(setting, card.classes(), predictions, Temperature.of(card)), unreadable);
    }

    /** Returns for each class of the dataset its index among the model's; the dataset may lack some. */
    private static List<Integer> modelClasses(Dataset dataset, List<String> known) throws DatasetException {
        List<String> unknown = dataset.classes().stream()
                .filter(name -> !known.contains(name))
                .map(name -> QuotedText.text(name) + NearestWord.suggestion(name, known))
                .toList();
        if (!unknown.isEmpty()) {
            throw new DatasetException(
                    dataset.root(),
                    "expected only classes of the model, found " + QuotedText.some(unknown) + "; its classes are "
                            + QuotedText.quoted(known)
                            + ": rename the folders or labels, remove these classes, or train a model on them");
        }
        return dataset.classes().stream().map(known::indexOf).toList();
    }

    private static String nothing(SortedMap<String, String> unreadable) {
        if (unreadable.isEmpty()) {
            return "expected test images, found none";
        }
        Map.Entry<String, String> first = unreadable.entrySet().iterator().next();
        return "expected readable test images, found %d unreadable ones; the first is %s: %s"
                .formatted(unreadable.size(), QuotedText.text(first.getKey()), first.getValue());
    }
}
