package org.gramian.evaluate;

import java.util.List;
import java.util.Optional;
import org.gramian.basis.NearestWord;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.Plan;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.image.dataset.protocol.Protocols;

/**
 * Finds the requested fold, unless the model was trained on its test images.
 *
 * @param dataset the images
 * @param trained what the model was trained under, as far as it says
 * @param learned what it has learned of this dataset, if it was trained on it
 */
record FoldChoice(Dataset dataset, Optional<TrainedOn> trained, Optional<TrainedSplit> learned) {
    TestImages choose(TestRequest request, Duplicates duplicates) {
        Protocol protocol = request.protocol()
                .or(() -> trained.map(one -> Protocols.parse(one.setting().protocol())))
                .orElseThrow(() -> new IllegalArgumentException(
                        "--fold and --seed need a protocol, and the model has none: pass one, e.g. --protocol"
                                + " holdout:0.2"));
        long seed = request.seed()
                .or(() -> trained.map(one -> one.setting().seed()))
                .orElse(0L);
        Plan plan = protocol.plan(dataset, duplicates, seed);
        Fold fold = request.fold().map(name -> named(plan, name)).orElseGet(() -> only(plan));
        learned.ifPresent(one -> requireNew(one, fold));
        return new TestImages(
                fold.test(),
                Setting.of(plan, fold),
                plan.notes().stream().map(Note::text).toList());
    }

    private static Fold named(Plan plan, String name) {
        List<String> names = plan.folds().stream().map(Fold::name).toList();
        return plan.folds().stream()
                .filter(fold -> fold.name().equals(name))
                .findFirst()
                .or(() -> numbered(plan, name))
                .orElseThrow(() -> new IllegalArgumentException("%s has no fold '%s'%s; its folds are %s"
                        .formatted(
                                plan.protocol().text(),
                                name,
                                NearestWord.suggestion(name, names),
                                TrainedSplit.names(plan))));
    }

    /** By number from 1 on, as {@code train} counts them; a name goes before it. */
    private static Optional<Fold> numbered(Plan plan, String number) {
        int index = number.matches("\\d{1,6}") ? Integer.parseInt(number) - 1 : -1;
        return index >= 0 && index < plan.folds().size()
                ? Optional.of(plan.folds().get(index))
                : Optional.empty();
    }

    /** The one that there is, or the model's own. */
    private Fold only(Plan plan) {
        if (plan.folds().size() == 1) {
            return plan.folds().getFirst();
        }
        return learned.filter(one -> one.plan().fingerprint().equals(plan.fingerprint()))
                .map(TrainedSplit::fold)
                .orElseThrow(() -> new IllegalArgumentException("%s has several folds: choose one of %s"
                        .formatted(plan.protocol().text(), TrainedSplit.names(plan))));
    }

    private static void requireNew(TrainedSplit learned, Fold fold) {
        if (learned.count(fold.test()) > 0) {
            throw new IllegalArgumentException(
                    ("%s, so the result on '%s' would be biased: evaluate on '%s' of %s instead, which it was not"
                                    + " trained on")
                            .formatted(
                                    learned.share(fold.test()),
                                    fold.name(),
                                    learned.fold().name(),
                                    learned.plan().protocol().text()));
        }
    }
}
