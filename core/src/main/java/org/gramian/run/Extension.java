package org.gramian.run;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import de.siegmar.fastcsv.writer.QuoteStrategies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Dataset.Source;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.ModelFile;
import org.gramian.run.config.Settings;
import org.gramian.run.config.Settings.Setting;
import org.gramian.run.config.TrainConfig;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.loop.TrainingData.Parts;

/**
 * Adds images of new or known classes to a run whose classifier was solved on a frozen backbone: a run on all images with the
 * backbone, pooling and solver of the first, which takes the features of its images from the cache.
 *
 * <p>The model equals that of training anew on the list {@value #IMAGES} with the same settings. Images of the first run stay in
 * their part of the split; new ones are split as their layout says, else by the random protocol of the run or at random, where a new
 * image that is a near-duplicate of an old one joins its part.
 *
 * @param trainer trainer of the run, with its images and settings
 * @param run folder of the run
 */
public record Extension(TrainingRun trainer, Path run) {
    /** List of all images in the folder of the new run: columns path,label,fold. */
    public static final String IMAGES = "images.csv";

    private static final double TEST_SHARE = 0.2;
    private static final String ANEW = "; train anew on all images with 'gramian train'";

    /** A new run that is ready to be trained. */
    public record Prepared(TrainingRun trainer, AuditReport audit, RunPlan plan) {}

    /**
     * Writes the list of all images to a new folder, and the features of the new images to the cache.
     *
     * @param out folder of the new run
     */
    public Prepared prepare(Dataset images, Path out) throws IOException, InterruptedException {
        RunPlan old = plan();
        List<Integer> used = IntStream.range(0, images.samples().size())
                .filter(i -> !images.assignment().part(i).equals(SplitPart.UNUSED.name()))
                .boxed()
                .toList();
        Dataset added = used.size() < images.samples().size() ? images.sample(used) : images;
        Dataset all = joined(old, added);
        Settings settings = settings(old, all.root());
        AuditReport audit = run(all, settings).audit();
        List<SplitPart> parts = parts(old, added, all, audit);
        Assignment split = new Assignment.Splits(List.of(new Split("given", parts)));
        Dataset listed = new Dataset(
                all.root(),
                all.classes(),
                all.samples(),
                new Source(settings.setting("data.layout").text(), split, List.of()));
        TrainingRun extended = run(listed, settings);
        RunPlan plan = extended.plan(audit);
        extended.addFeatures(old, plan, out);
        Files.createDirectories(out);
        new ExistingRun(out).keep(new ExistingRun.Extended(origin(old, added)));
        write(out.resolve(IMAGES), all, parts);
        return new Prepared(extended, audit, plan);
    }

    private TrainingRun run(Dataset dataset, Settings settings) {
        return new TrainingRun(dataset, settings, trainer.weights(), trainer.cache(), trainer.context());
    }

    /** Returns the plan of the run, from its images and audit. */
    private RunPlan plan() throws IOException {
        ExistingRun existing = new ExistingRun(run);
        FoldFolder folder = new FoldFolder(run);
        if (existing.sample().isPresent()) {
            throw refused("it was trained on a sample of its images, within a time budget");
        }
        TrainingRun quiet = trainer.with(trainer.context().withListener(_ -> {})); // it said everything once
        Path audit = run.resolve(AuditReport.FILE_NAME);
        RunPlan plan = quiet.plan(JsonText.read(audit, AuditReport.class, "the audit of the run", ANEW.substring(2)));
        if (plan.names().size() > 1) {
            throw refused("it has " + plan.names().size() + " folds, and a model in each");
        }
        int epochs = plan.config().recipe().stage1().epochs()
                + plan.config().recipe().stage2().epochs();
        if (plan.config().recipe().solver().isEmpty() || epochs > 0) {
            throw refused(
                    "its head or backbone was trained by epochs, and no features of a frozen backbone lead to it");
        }
        if (!folder.isDone()) {
            throw new IOException(
                    run + ": expected a finished run, found none; finish it with 'gramian train --resume'");
        }
        if (trainer.cache().isEmpty()) {
            throw refused("it was trained without a feature cache (--no-cache)");
        }
        if (hasBoxes(plan.dataset())) {
            throw refused("its images have bounding boxes, which a list of images cannot hold");
        }
        Map<String, String> found = ModelFile.header(folder.model()).card().origin();
        if (!found.entrySet()
                .containsAll(FoldRun.division(plan, plan.folds().getFirst()).entrySet())) {
            throw refused("its images or their labels changed since it was trained");
        }
        return plan;
    }

    private IOException refused(String reason) {
        return new IOException(run + ": cannot be extended: " + reason + ANEW);
    }

    /** Returns the settings of the run with its chosen pooling and solver, for a list of images with a split. */
    private Settings settings(RunPlan old, Path root) throws IOException {
        Map<String, Setting> values = new LinkedHashMap<>(old.settings().values());
        List.of("data.protocol", "data.validation").forEach(values::remove);
        String pooling =
                ModelFile.header(new FoldFolder(run).model()).head().pooling().text();
        Settings settings = new Settings(values)
                .with("data.layout", "csv:" + root)
                .with("network.pooling", pooling, run.toString());
        Optional<HeadSearch.Result> search = new FoldFolder(run).candidates();
        return search.isEmpty()
                ? settings
                : settings.with("network.classifier", search.get().best().classifier(), run.toString());
    }

    private static boolean hasBoxes(Dataset dataset) {
        return dataset.samples().stream().anyMatch(sample -> sample.box().isPresent());
    }

    /** Returns the images that took part in the run and the added ones, with names below a common folder. */
    private Dataset joined(RunPlan old, Dataset added) {
        if (hasBoxes(added)) {
            throw new UnfitDataException(added.root()
                    + ": expected images without bounding boxes, which a list of images cannot hold" + ANEW);
        }
        Path root = common(absolute(old.dataset().root()), absolute(added.root()));
        TreeSet<String> classes = new TreeSet<>(old.dataset().classes());
        classes.addAll(added.classes());
        List<String> names = List.copyOf(classes);
        Map<String, Sample> samples = new TreeMap<>();
        byPart(old).values().forEach(part -> addTo(samples, part, old.dataset(), root, names));
        addTo(samples, added.samples(), added, root, names);
        return new Dataset(root, names, List.copyOf(samples.values()));
    }

    private static void addTo(
            Map<String, Sample> samples, List<Sample> more, Dataset dataset, Path root, List<String> classes) {
        for (Sample sample : more) {
            String name = root.relativize(absolute(sample.file())).toString().replace('\\', '/');
            Sample one = new Sample(name, classes.indexOf(dataset.className(sample)), root.resolve(name));
            if (samples.put(name, one) != null) {
                throw new IllegalArgumentException("expected new images, found " + QuotedText.text(name)
                        + ", which the run has already; pass a folder of the new images only");
            }
        }
    }

    private static Map<SplitPart, List<Sample>> byPart(RunPlan plan) {
        Parts parts = plan.folds().getFirst().parts();
        return Map.of(
                SplitPart.TRAIN,
                parts.training(),
                SplitPart.VALIDATION,
                parts.validation(),
                SplitPart.TEST,
                parts.test());
    }

    private static Path absolute(Path path) {
        return path.toAbsolutePath().normalize();
    }

    private static Path common(Path one, Path other) {
        Path root = one;
        while (root != null && !other.startsWith(root)) {
            root = root.getParent();
        }
        if (root == null) {
            throw new IllegalArgumentException("expected images on one drive, found " + one + " and " + other);
        }
        return root;
    }

    /** Returns the part of each image. */
    private List<SplitPart> parts(RunPlan old, Dataset added, Dataset all, AuditReport audit) {
        Map<Path, SplitPart> partOf = new HashMap<>();
        byPart(old).forEach((part, samples) -> samples.forEach(sample -> partOf.put(absolute(sample.file()), part)));
        List<Integer> fresh = IntStream.range(0, all.samples().size())
                .filter(i -> !partOf.containsKey(all.samples().get(i).file()))
                .boxed()
                .toList();
        boolean together = old.config().get(TrainConfig.NEAR_DUPLICATES);
        Duplicates duplicates = Duplicates.of(all).with(together ? RunPlan.near(all, audit) : List.of());
        if (added.assignment() instanceof Assignment.Splits(List<Split> splits) && splits.size() == 1) {
            IntStream.range(0, added.samples().size())
                    .forEach(i -> partOf.put(
                            absolute(added.samples().get(i).file()),
                            splits.getFirst().parts().get(i)));
        } else {
            Protocol given = old.config().get(TrainConfig.PROTOCOL);
            Protocol protocol = given.isRandom() ? given : Protocol.holdout(TEST_SHARE);
            Dataset part = new Dataset(
                    all.root(),
                    added.classes(),
                    fresh.stream()
                            .map(all.samples()::get)
                            .map(one -> new Sample(one.name(), added.classes().indexOf(all.className(one)), one.file()))
                            .toList());
            Duplicates within = duplicates.within(fresh);
            protocol.incompatibility(part, within).ifPresent(reason -> {
                throw new UnfitDataException(added.root() + ": cannot be split by " + protocol.text() + ": " + reason
                        + "; add images, or sort them into train/ and test/");
            });
            Fold fold = protocol.folds(part, within, old.seed()).getFirst();
            fold.train().forEach(i -> partOf.put(part.samples().get(i).file(), SplitPart.TRAIN));
            fold.test().forEach(i -> partOf.put(part.samples().get(i).file(), SplitPart.TEST));
            Set<Integer> isNew = Set.copyOf(fresh);
            for (List<Integer> group : duplicates.together()) {
                for (int i : group) {
                    if (!isNew.contains(i)) {
                        SplitPart known = Objects.requireNonNull(
                                partOf.get(all.samples().get(i).file()));
                        group.stream()
                                .filter(isNew::contains)
                                .forEach(j -> partOf.put(all.samples().get(j).file(), known));
                    }
                }
            }
        }
        return all.samples().stream()
                .map(sample -> partOf.getOrDefault(sample.file(), SplitPart.TRAIN))
                .toList();
    }

    /** Writes the list with names as they are, since it is read again: unlike tables for spreadsheets, no name is quoted as text. */
    private static void write(Path list, Dataset all, List<SplitPart> parts) throws IOException {
        AtomicFile.putText(list, text -> {
            CsvWriter csv = CsvWriter.builder()
                    .lineDelimiter(LineDelimiter.LF)
                    .quoteStrategy(QuoteStrategies.ALWAYS) // keeps spaces at the ends of names
                    .build(text);
            csv.writeRecord("path", "label", "fold");
            for (int i = 0; i < parts.size(); i++) {
                Sample sample = all.samples().get(i);
                csv.writeRecord(
                        sample.name(), all.className(sample), parts.get(i).word());
            }
            csv.flush();
        });
    }

    /** Returns the provenance of both datasets. */
    private SequencedMap<String, String> origin(RunPlan old, Dataset added) throws IOException {
        SequencedMap<String, String> origin = new LinkedHashMap<>();
        origin.put("extended.model", Sha256.hex(Sha256.of(new FoldFolder(run).model())));
        Map<String, String> before = FoldRun.division(old, old.folds().getFirst());
        Stream.of("fingerprint", "content", "images")
                .forEach(key -> origin.put("extended." + key, before.getOrDefault(key, "")));
        origin.put("added.fingerprint", Fingerprint.of(added, List.of()).hex());
        origin.put(
                "added.images",
                added.samples().size() + " images of " + added.classes().size() + " classes");
        return origin;
    }
}
