package org.gramian.evaluate;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.model.ModelCard;

/**
 * The images that a model is to be measured on, and what a reader of the result should know about them.
 *
 * <p>A number is worth something only on images that the model was not trained on. Where the model's origin and the data
 * set's fingerprint show that it was trained on this very dataset, its own test images are taken, and others that it has
 * learned are refused unless all images are requested by name. Where nothing shows it, all images are taken, and a
 * remark says what is not known.
 *
 * @param indexes into {@link Dataset#samples}, ascending
 * @param setting what these images are known by
 * @param remarks sentences for people
 */
public record TestImages(List<Integer> indexes, Setting setting, List<String> remarks) {
    public TestImages {
        indexes = List.copyOf(indexes);
        remarks = List.copyOf(remarks);
    }

    /**
     * Chooses.
     *
     * @throws IllegalArgumentException if the request cannot be met, or the model has learned some of the images by heart
     */
    public static TestImages choose(Dataset dataset, ModelCard card, TestRequest request) {
        Duplicates duplicates = Duplicates.of(dataset);
        Optional<TrainedOn> trained = TrainedOn.of(card);
        Optional<TrainedSplit> learned = trained.flatMap(one -> TrainedSplit.of(dataset, duplicates, one));
        if (request.divides()) {
            // The model's near-duplicates are known for the dataset that it was trained on alone.
            Duplicates known = learned.isPresent()
                    ? duplicates.with(trained.map(TrainedOn::near).orElse(List.of()))
                    : duplicates;
            return new FoldChoice(dataset, trained, learned).choose(request, known);
        }
        if (request.all()) {
            return all(
                    dataset,
                    learned.map(one -> one.share(every(dataset)) + ": the result does not apply to new images"));
        }
        if (learned.isPresent()) {
            return learned.get().itsOwn();
        }
        return all(dataset, Optional.of(trained.map(TestImages::elsewhere).orElse(UNTOLD)));
    }

    private static final String UNTOLD =
            "the model does not record its training images; if some of these are among them, the result is biased";

    private static String elsewhere(TrainedOn trained) {
        return "the model was trained under " + trained.setting() + ", on another list of images; if some of"
                + " these are among them, the result is biased";
    }

    private static TestImages all(Dataset dataset, Optional<String> remark) {
        return new TestImages(
                every(dataset), Setting.all(dataset), remark.stream().toList());
    }

    private static List<Integer> every(Dataset dataset) {
        return IntStream.range(0, dataset.samples().size()).boxed().toList();
    }
}
