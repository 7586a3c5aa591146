package org.gramian.evaluate.compare;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.gramian.basis.NearestWord;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.FoldSet;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.ModelCard;

/**
 * The images to evaluate a model on: by default those it was not trained on.
 *
 * <p>If the model's origin and the dataset's fingerprint show that the model was trained on this dataset, its own test images
 * are taken; others that it was trained on are refused unless all images are requested. If its training images are unknown,
 * all images are taken, with a remark.
 */
public record TestImages(List<Integer> indexes, Setting setting, List<String> remarks) {
    private static final String UNKNOWN_TRAINING_IMAGES =
            "the model does not record its training images; if some of these are among them, the result is biased";

    /** The requested test images; unset values follow from the model. */
    public record Request(Optional<Protocol> protocol, Optional<String> fold, Optional<Long> seed, boolean all) {
        /** The model's own test images if it was trained on the dataset, else all images. */
        public static final Request DEFAULT = new Request(Optional.empty(), Optional.empty(), Optional.empty(), false);

        public static final Request ALL = new Request(Optional.empty(), Optional.empty(), Optional.empty(), true);

        public Request {
            if (all && (protocol.isPresent() || fold.isPresent() || seed.isPresent())) {
                throw new IllegalArgumentException(
                        "expected all images, or those of a protocol, fold or seed, found both: remove one of them");
            }
        }
    }

    /** The split of this dataset that a model was trained on, and the fold. */
    private record TrainedSplit(FoldSet plan, Fold fold) {
        /** Returns how many of these images are training or validation images of the model. */
        long count(List<Integer> indexes) {
            Set<Integer> seen = new HashSet<>(fold.train());
            seen.addAll(fold.validation());
            return indexes.stream().filter(seen::contains).count();
        }

        String share(List<Integer> indexes) {
            long count = count(indexes);
            return "the model was trained on %d %% of these images (%d of %d)"
                    .formatted(Math.round(100.0 * count / indexes.size()), count, indexes.size());
        }
    }

    public TestImages {
        indexes = List.copyOf(indexes);
        remarks = List.copyOf(remarks);
    }

    /** Selects the test images. */
    public static TestImages choose(Dataset dataset, ModelCard card, Request request) {
        Duplicates duplicates = Duplicates.of(dataset);
        Optional<TrainedOn> trained = TrainedOn.of(card);
        Optional<TrainedSplit> split = trained.flatMap(one -> trainedSplit(dataset, duplicates, one));
        List<Integer> every =
                IntStream.range(0, dataset.samples().size()).boxed().toList();
        if (request.all()) {
            List<String> remarks = split.stream()
                    .map(one -> one.share(every) + ": the result does not apply to new images")
                    .toList();
            return new TestImages(every, Setting.all(dataset), remarks);
        }
        if (!request.equals(Request.DEFAULT)) {
            // The model's near-duplicates are known only for the dataset that it was trained on.
            Duplicates known = split.isPresent()
                    ? duplicates.with(trained.map(TrainedOn::near).orElse(List.of()))
                    : duplicates;
            return ofFold(dataset, trained, split, request, known);
        }
        String remark = trained.map(one -> "this dataset differs from that of the model (" + one.setting()
                        + "); the result is biased if it contains training images")
                .orElse(UNKNOWN_TRAINING_IMAGES);
        return split.map(TestImages::ofOwnFold)
                .orElseGet(() -> new TestImages(every, Setting.all(dataset), List.of(remark)));
    }

    private static Optional<TrainedSplit> trainedSplit(Dataset dataset, Duplicates duplicates, TrainedOn trained) {
        return trained.plan(dataset, duplicates).map(plan -> {
            // The fingerprint fits but the fold does not: the origin was edited.
            Fold fold = find(plan, trained.setting().fold())
                    .orElseThrow(() -> new IllegalArgumentException(
                            "the model was trained on these images, but its metadata names the fold '%s', and %s has %s"
                                    .formatted(
                                            trained.setting().fold(),
                                            plan.protocol().text(),
                                            names(plan))));
            return new TrainedSplit(plan, fold);
        });
    }

    private static TestImages ofOwnFold(TrainedSplit split) {
        Fold fold = split.fold();
        Setting own = Setting.of(split.plan(), fold);
        String remark = "the model was trained on some of these images; evaluating on the "
                + fold.test().size() + " test images of its own fold '" + fold.name() + "' (" + own.protocol()
                + ", seed " + own.seed() + ")";
        return new TestImages(fold.test(), own, List.of(remark));
    }

    /** Returns the test images of the requested fold, unless the model was trained on some of them. */
    private static TestImages ofFold(
            Dataset dataset,
            Optional<TrainedOn> trained,
            Optional<TrainedSplit> split,
            Request request,
            Duplicates duplicates) {
        Protocol protocol = request.protocol()
                .or(() -> trained.map(one -> Protocol.parse(one.setting().protocol())))
                .orElseThrow(() -> new IllegalArgumentException(
                        "--fold and --seed need a protocol, and the model has none: pass one, e.g. --protocol"
                                + " holdout:0.2"));
        long seed = request.seed()
                .or(() -> trained.map(one -> one.setting().seed()))
                .orElse(0L);
        FoldSet plan = protocol.plan(dataset, duplicates, seed);
        Fold fold = request.fold().map(name -> named(plan, name)).orElseGet(() -> defaultFold(plan, split));
        split.ifPresent(one -> requireUnseen(one, fold));
        return new TestImages(
                fold.test(),
                Setting.of(plan, fold),
                plan.notes().stream().map(Note::text).toList());
    }

    private static Optional<Fold> find(FoldSet plan, String name) {
        return plan.folds().stream().filter(fold -> fold.name().equals(name)).findFirst();
    }

    private static String names(FoldSet plan) {
        return plan.folds().stream().map(fold -> "'" + fold.name() + "'").collect(Collectors.joining(", "));
    }

    /** Returns a fold by its name, or by its number from 1. */
    private static Fold named(FoldSet plan, String name) {
        List<Fold> folds = plan.folds();
        int index = name.matches("\\d{1,6}") ? Integer.parseInt(name) - 1 : -1;
        return find(plan, name)
                .or(() -> index >= 0 && index < folds.size() ? Optional.of(folds.get(index)) : Optional.empty())
                .orElseThrow(() -> new IllegalArgumentException("%s has no fold '%s'%s; its folds are %s"
                        .formatted(
                                plan.protocol().text(),
                                name,
                                NearestWord.suggestion(
                                        name, folds.stream().map(Fold::name).toList()),
                                names(plan))));
    }

    /** Returns the only fold, or the one that the model was trained on. */
    private static Fold defaultFold(FoldSet plan, Optional<TrainedSplit> split) {
        if (plan.folds().size() == 1) {
            return plan.folds().getFirst();
        }
        return split.filter(one -> one.plan().fingerprint().equals(plan.fingerprint()))
                .map(TrainedSplit::fold)
                .orElseThrow(() -> new IllegalArgumentException("%s has several folds: choose one of %s"
                        .formatted(plan.protocol().text(), names(plan))));
    }

    private static void requireUnseen(TrainedSplit split, Fold fold) {
        if (split.count(fold.test()) > 0) {
            throw new IllegalArgumentException(
                    ("%s, so the result on '%s' would be biased: evaluate on '%s' of %s instead, which it was not"
                                    + " trained on")
                            .formatted(
                                    split.share(fold.test()),
                                    fold.name(),
                                    split.fold().name(),
                                    split.plan().protocol().text()));
        }
    }
}
