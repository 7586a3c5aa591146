package org.gramian.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.audit.AuditReport.DuplicateGroup;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.FoldSet;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.linear.LinearSolver;
import org.gramian.model.Head;
import org.gramian.pooling.Pooling;
import org.gramian.run.config.ConfigException;
import org.gramian.run.config.RunConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.train.loop.TrainingData.Parts;

/**
 * The plan of a run: its configuration, and the split of each fold.
 *
 * @param config a value for every key, with its origin, and the model and recipe that they describe
 * @param near near-duplicates that the split keeps on one side
 * @param duplicates identical files and near-duplicates that cross-validation on training images keeps in one fold,
 *     with any protocol; identical files only if near-duplicates are ignored
 * @param content hash of the names and pixels of all images
 * @param names names of all folds
 * @param folds folds to train
 */
public record RunPlan(
        Dataset dataset,
        RunConfig config,
        Fingerprint fingerprint,
        List<List<Integer>> near,
        List<List<Integer>> duplicates,
        String content,
        List<String> names,
        List<FoldPlan> folds) {
    public RunPlan {
        near = List.copyOf(near);
        duplicates = List.copyOf(duplicates);
        names = List.copyOf(names);
        folds = List.copyOf(folds);
    }

    static RunPlan of(Dataset dataset, Settings settings, AuditReport audit, Consumer<String> remarks) {
        RunConfig config = RunConfig.of(settings);
        requireClasses(dataset);
        Set<Integer> readable = readable(dataset, audit);
        Duplicates identical = Duplicates.of(dataset);
        Duplicates all = config.get(TrainConfig.NEAR_DUPLICATES) ? identical.with(near(dataset, audit)) : identical;
        Duplicates duplicates = splitTogether(dataset, config.get(TrainConfig.PROTOCOL), all, remarks);
        long seed = config.recipe().seed();
        FoldSet split;
        try {
            split = config.get(TrainConfig.PROTOCOL).plan(dataset, duplicates, seed);
        } catch (IllegalArgumentException incompatibility) {
            throw new UnfitDataException(incompatibility);
        }
        split.notes().forEach(note -> remarks.accept(note.text()));
        boolean isWanted = settings.setting("data.validation").wanted();
        FoldPlan.ValidationSplit validation =
                new FoldPlan.ValidationSplit(config.get(TrainConfig.VALIDATION), isWanted, seed, duplicates, remarks);
        List<FoldPlan> folds = new ArrayList<>();
        for (Fold fold : split.folds()) {
            String place = split.folds().size() == 1 ? "" : EvaluationFile.fold(folds.size() + 1);
            folds.add(FoldPlan.of(dataset, place, fold, readable, validation));
            if (folds.getLast().parts().test().isEmpty()) {
                throw new UnfitDataException(QuotedText.text(fold.name()) + " has no readable test image");
            }
        }
        return new RunPlan(
                dataset,
                config,
                split.fingerprint(),
                duplicates.near(),
                all.together(),
                audit.content(),
                folds.stream().map(FoldPlan::name).toList(),
                folds);
    }

    public Settings settings() {
        return config.settings();
    }

    static void requireClasses(Dataset dataset) {
        for (Note note : dataset.notes()) { // an empty class is probably a mistake, and would never be predicted
            if (note.kind() == Note.Kind.EMPTY_CLASSES) {
                throw new UnfitDataException(dataset.root() + ": " + note.count() + " class folder"
                        + (note.count() == 1 ? " has" : "s have") + " no images: "
                        + QuotedText.quoted(note.examples()) + "; add images, or remove empty folders");
            }
        }
        if (dataset.classes().size() < 2) {
            throw new UnfitDataException("expected at least 2 classes, found "
                    + dataset.classes().size() + " in " + dataset.root()
                    + "; add images of another class, or pass the parent folder of the class folders");
        }
        if (dataset.classes().stream().anyMatch(String::isBlank)) {
            throw new UnfitDataException(dataset.root() + ": expected a name for every class, found a blank one;"
                    + " rename its folder or label");
        }
    }

    private static Set<Integer> readable(Dataset dataset, AuditReport audit) {
        Set<String> unreadable =
                audit.unreadable().stream().map(one -> one.image().name()).collect(Collectors.toSet());
        List<Sample> samples = dataset.samples();
        Set<Integer> readable = IntStream.range(0, samples.size())
                .filter(index -> !unreadable.contains(samples.get(index).name()))
                .boxed()
                .collect(Collectors.toSet());
        List<String> missing =
                missing(dataset, readable.stream().map(samples::get).toList());
        if (!missing.isEmpty()) {
            String example = audit.unreadable().stream()
                    .filter(lost -> missing.contains(lost.image().label()))
                    .findFirst()
                    .map(lost -> " (" + QuotedText.text(lost.image().name()) + ": " + lost.reason() + ")")
                    .orElse("");
            throw new UnfitDataException("no readable image of " + QuotedText.quoted(missing) + example
                    + "; run 'gramian audit' for the cause; replace the files, or remove these classes");
        }
        return readable;
    }

    static List<String> missing(Dataset dataset, List<Sample> samples) {
        Set<Integer> present = samples.stream().map(Sample::label).collect(Collectors.toSet());
        return IntStream.range(0, dataset.classes().size())
                .filter(label -> !present.contains(label))
                .mapToObj(dataset.classes()::get)
                .toList();
    }

    /**
     * Returns the duplicates that a split keeps on one side: identical files, and near-duplicates if the split is
     * random and still possible with them.
     */
    private static Duplicates splitTogether(
            Dataset dataset, Protocol protocol, Duplicates all, Consumer<String> remarks) {
        Duplicates identical = all.with(List.of());
        List<List<Integer>> near = all.near();
        if (!protocol.isRandom() || near.isEmpty()) {
            return identical;
        }
        String counted = near.size() + (near.size() == 1 ? " group" : " groups") + " of near-duplicates ("
                + near.stream().mapToInt(List::size).sum() + " images)";
        Optional<String> incompatibility = protocol.incompatibility(dataset, all);
        if (incompatibility.isEmpty()) {
            remarks.accept(counted + " kept on one side of each split");
            return all;
        }
        if (protocol.incompatibility(dataset, identical).isPresent()) {
            return all; // the plan is refused
        }
        remarks.accept(counted + " cannot be kept on one side of each split, which may inflate the accuracy: "
                + incompatibility.get());
        return identical;
    }

    /** Returns the audit's groups of images with equal pixels or near-duplicates, as sample indices. */
    static List<List<Integer>> near(Dataset dataset, AuditReport audit) {
        Map<String, Integer> indexOf = new HashMap<>();
        for (Sample sample : dataset.samples()) {
            indexOf.put(sample.name(), indexOf.size());
        }
        Function<DuplicateGroup.Kind, List<List<Integer>>> groups = kind -> audit.duplicates().stream()
                .filter(group -> group.kind() == kind)
                .map(group -> group.images().stream()
                        .map(member -> Objects.requireNonNull(indexOf.get(member.name())))
                        .toList())
                .toList();
        return new Duplicates(
                        groups.apply(DuplicateGroup.Kind.SAME_PIXELS),
                        List.of(),
                        groups.apply(DuplicateGroup.Kind.NEAR))
                .together();
    }

    Head head(FoldPlan fold) {
        return config.network()
                .head(dataset.classes().size(), fold.parts().training().size());
    }

    /** Returns the head that is trained after the solved one: with a pooling of its own if there is one, else the given head. */
    Head secondHead(FoldPlan fold, Head frozen) {
        return config.network().second().map(pooling -> head(fold, pooling)).orElse(frozen);
    }

    /** Returns the head of a fold with a given pooling, e.g. the one that {@code pooling=auto} selected. */
    Head head(FoldPlan fold, Pooling chosen) {
        return config.network()
                .with(chosen)
                .head(dataset.classes().size(), fold.parts().training().size());
    }

    long seed() {
        return config.recipe().seed();
    }

    /**
     * Returns the plan restricted to some folds.
     *
     * @param wanted fold numbers from 1, or fold names; repetitions are ignored
     */
    public RunPlan only(List<String> wanted) {
        List<FoldPlan> some = new ArrayList<>();
        for (String text : wanted) {
            FoldPlan fold = find(text);
            if (!some.contains(fold)) {
                some.add(fold);
            }
        }
        return with(some);
    }

    /** Returns the plan with some of the images only: the rest take part in no fold. */
    RunPlan within(Set<Sample> some) {
        UnaryOperator<List<Sample>> kept =
                all -> all.stream().filter(some::contains).toList();
        return with(folds.stream()
                .map(fold -> new FoldPlan(
                        fold.place(),
                        fold.name(),
                        new Parts(
                                kept.apply(fold.parts().training()),
                                kept.apply(fold.parts().validation()),
                                kept.apply(fold.parts().test())),
                        fold.validationSource()))
                .toList());
    }

    private RunPlan with(List<FoldPlan> some) {
        return new RunPlan(dataset, config, fingerprint, near, duplicates, content, names, some);
    }

    private FoldPlan find(String text) {
        int named = names.indexOf(text);
        int index = named < 0 && text.matches("\\d{1,6}") ? Integer.parseInt(text) - 1 : named;
        return folds.stream()
                .filter(fold ->
                        index >= 0 && index < names.size() && fold.name().equals(names.get(index)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("unknown fold " + QuotedText.text(text)
                        + "; the folds are 1 to " + names.size() + ", named " + QuotedText.quoted(names)));
    }

    /**
     * Checks, before features are computed, that each fold has enough training images for its pooling, and that its
     * classifier's solver fits into memory.
     */
    void requireFeasible(Consumer<String> remarks) {
        Optional<LinearSolver> solver = config.recipe().solver();
        long channels = config.network().backbone().channels();
        for (FoldPlan fold : folds) {
            Pooling pooling = feasiblePooling(fold);
            solver.ifPresent(one -> requireRoom(one, fold, pooling.descriptorSize(channels)));
        }
        Pooling first = feasiblePooling(folds.getFirst());
        first.warnings(channels).forEach(warning -> remarks.accept("network.pooling: " + warning));
        if (hasRandomPooling()) {
            remarks.accept("the pooling has trainable parameters, which network.classifier="
                    + solver.orElseThrow().text()
                    + " leaves at their initial values; use a pooling without them (pca:N instead"
                    + " of conv:N), or the classifier softmax");
        }
    }

    /** Returns whether a solver leaves parameters of the pooling at their random initialization. */
    public boolean hasRandomPooling() {
        return config.recipe().solver().isPresent()
                && !config.network().auto()
                && head(folds.getFirst())
                        .pooling()
                        .hasTrainable(config.network().backbone().channels());
    }

    private Pooling feasiblePooling(FoldPlan fold) {
        try {
            return head(fold).pooling();
        } catch (IllegalArgumentException incompatibility) {
            throw new ConfigException(
                    "network.pooling: does not fit the "
                            + fold.parts().training().size() + " training images of " + QuotedText.text(fold.name())
                            + ": " + incompatibility.getMessage(),
                    incompatibility);
        }
    }

    private void requireRoom(LinearSolver solver, FoldPlan fold, long size) {
        long crops = config.trainingCrops().count();
        try {
            long images = (long) fold.parts().training().size()
                    + fold.parts().validation().size();
            solver.requireRoom(images * crops, size);
        } catch (IllegalArgumentException tooMany) {
            throw new ConfigException(
                    "network.classifier: " + QuotedText.text(fold.name()) + ": " + tooMany.getMessage(), tooMany);
        }
    }
}
