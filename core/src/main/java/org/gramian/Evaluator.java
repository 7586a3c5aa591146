package org.gramian;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.gramian.basis.JsonText;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.compare.TestImages;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.gramian.model.ModelCard;

/**
 * Evaluates a model on labelled images, under the temperature of its card.
 *
 * <pre>{@code
 * Evaluator.Measurement measured = Evaluator.of(classifier).on(Path.of("photos")); // one sub-folder per class
 * measured.evaluation().accuracy().interval(); // of 95 %
 * measured.evaluation().confusion().perClass(); // precision, recall and F1 of each class
 * measured.evaluation().calibration().error();
 * }</pre>
 *
 * <p>Of the dataset that the model was trained on, its own test images are taken; of others, all images. Classes are matched by name;
 * truths and scores of the evaluation are in the order of the model's classes, whatever the order of the dataset's. Unreadable images
 * are listed and do not count.
 *
 * @since 0.1
 */
public final class Evaluator {
    private final Classifier classifier;
    private final Function<Path, ReadResult> reader;
    private TestImages.Request request = TestImages.Request.DEFAULT;

    /**
     * Result of an evaluation.
     *
     * @param unreadable reason why an image could not be read, by name
     * @param remarks what to know of the test images, such as training images among them
     */
    public record Measurement(Evaluation evaluation, SortedMap<String, String> unreadable, List<String> remarks) {
        public Measurement {
            unreadable = Collections.unmodifiableSortedMap(new TreeMap<>(unreadable));
            remarks = List.copyOf(remarks);
        }

        /** Returns the measures of {@link Evaluation#toJson} with the unreadable images and remarks as a JSON object. */
        public String toJson() {
            SequencedMap<String, Object> json = evaluation.asMap();
            json.put("unreadable", unreadable);
            json.put("remarks", remarks);
            return JsonText.of(json);
        }
    }

    private Evaluator(Classifier classifier, Function<Path, ReadResult> reader) {
        this.classifier = classifier;
        this.reader = reader;
    }

    /**
     * Returns the evaluator of a classifier, with its crops: those of {@code Classifier.load} take whole images, also for a model that
     * was trained on object boxes, which {@code classifier.withCrops(classifier.card().crops())} takes. The caller closes the classifier.
     */
    public static Evaluator of(Classifier classifier) {
        return of(classifier, new ImageReader(ImageLimits.DEFAULT)::read);
    }

    /**
     * Returns the evaluator of a classifier.
     *
     * @param reader decodes the image files; called by several threads
     */
    public static Evaluator of(Classifier classifier, Function<Path, ReadResult> reader) {
        return new Evaluator(classifier, reader);
    }

    /** Takes all images, also those that the model was trained on. */
    public Evaluator all() {
        request = TestImages.Request.ALL;
        return this;
    }

    /**
     * Takes the test images of a fold.
     *
     * @param protocol for example {@code kfold:5}
     * @param fold its name, or its number from 1
     * @param seed of the splits
     */
    public Evaluator fold(String protocol, String fold, long seed) {
        request = new TestImages.Request(
                Optional.of(Protocol.parse(protocol)), Optional.of(fold), Optional.of(seed), false);
        return this;
    }

    /**
     * Evaluates images of a folder with one sub-folder per class, a CSV file, or a known dataset such as DTD.
     *
     * @throws IOException if there are no readable images, or classes that the model does not know
     */
    public Measurement on(Path images) throws IOException {
        return on(Layouts.open(images));
    }

    /**
     * Evaluates images of a dataset.
     *
     * @throws IOException if there are no readable images, or classes that the model does not know
     */
    public Measurement on(Dataset dataset) throws IOException {
        return on(dataset, TestImages.choose(dataset, classifier.card(), request), _ -> {});
    }

    /**
     * Evaluates test images of a dataset.
     *
     * @param progress receives the number of finished images
     */
    @SuppressWarnings("exports") // for the application
    public Measurement on(Dataset dataset, TestImages tested, LongConsumer progress) throws DatasetException {
        ModelCard card = classifier.card();
        List<Integer> truths = modelClasses(dataset, card.classes());
        List<Sample> samples =
                tested.indexes().stream().map(dataset.samples()::get).toList();
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
        return new Measurement(
                new Evaluation(tested.setting(), card.classes(), predictions, Temperature.of(card)),
                unreadable,
                tested.remarks());
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
