package org.gramian.cli.train;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.DetectorTraining;
import org.gramian.anomaly.evaluate.DetectorEvaluation;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.Conformal;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.DetectorText;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.Version;
import org.gramian.image.ImageSource;
import org.gramian.image.dataset.DatasetException;
import org.gramian.model.ModelFile;
import org.gramian.report.DetectorMeasures;
import org.gramian.report.DetectorReport;
import org.gramian.report.run.RunReport;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.train.loop.Cancellation;

/**
 * Trains a detector of anomalies and writes its run folder at the end, so that an interrupted run leaves nothing.
 *
 * @param folder the images as typed
 * @param settings backbone, weights and seed
 * @param report whether to write the report
 */
record DetectorRun(
        Console console,
        Path folder,
        DetectorOptions.Source source,
        Settings settings,
        DetectorTraining.Options options,
        WeightStore store,
        boolean report) {
    private static final int SHOWN = 5;

    /** Prints what would be trained. */
    int show() {
        console.print(DetectorText.table(configuration()));
        return ExitCode.DONE;
    }

    private Map<String, Object> configuration() {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("images", folder.toString());
        values.put("detector", source.reason());
        values.put("good", source.images().good().size());
        values.put("defects", source.defects().size());
        values.put("test", source.images().test().size());
        values.put("backbone", settings.get(TrainConfig.BACKBONE));
        values.put("weights", settings.get(TrainConfig.WEIGHTS).orElse("none"));
        values.put("image_size", options.side());
        values.put("tile", options.tile());
        values.put("false_alarms", options.falseAlarms().orElse(DetectorTraining.Options.DEFAULT_RATE));
        values.put("seed", options.seed());
        return values;
    }

    /** Trains, tests and writes the run folder. */
    int train(RunFolder out, Device device) throws IOException, InterruptedException {
        List<Path> good = source.images().good();
        if (good.size() < DetectorTraining.FEWEST) {
            throw new DatasetException(
                    folder,
                    "expected at least " + DetectorTraining.FEWEST + " good images to learn from, found "
                            + good.size());
        }
        console.say("training an anomaly detector (" + source.reason() + ") on " + good.size() + " good images; "
                + "backbone " + settings.get(TrainConfig.BACKBONE) + " ("
                + Objects.requireNonNull(settings.values().get("network.backbone"))
                        .origin() + ")");
        boolean made = !Files.exists(out.path());
        Files.createDirectories(out.path());
        boolean finished = false;
        Cancellation breaks = Cancellation.onRequest();
        try (Interruption _ = new Interruption(breaks, console::warn)) {
            AtomicFile.require(out.path().resolve(ModelFile.NAME));
            DetectorTraining.Result result = train(device, breaks);
            try (Detector detector = result.detector()) {
                Optional<DetectorEvaluation> evaluation = test(detector, breaks);
                write(out.path(), result, evaluation);
                finished = true;
                print(out.path(), result, evaluation);
                return result.unreadable().isEmpty() ? ExitCode.DONE : ExitCode.DATA;
            }
        } catch (CancellationException _) {
            console.warn("interrupted; nothing was written");
            return ExitCode.INTERRUPTED;
        } finally {
            if (!finished && made) {
                removeIfEmpty(out.path());
            }
        }
    }

    private static void removeIfEmpty(Path folder) throws IOException {
        try {
            Files.deleteIfExists(folder);
        } catch (DirectoryNotEmptyException _) {
            // what was written stays, and the failure is that of the run
        }
    }

    private DetectorTraining.Result train(Device device, Cancellation breaks) throws IOException, InterruptedException {
        Backbone backbone = store.backbone(settings.get(TrainConfig.BACKBONE));
        try (Arena arena = Arena.ofShared();
                TrainDisplay display = new TrainDisplay(console)) {
            Weights weights = store.find(backbone, settings.get(TrainConfig.WEIGHTS), arena, console::say);
            DetectorTraining training = new DetectorTraining(
                    backbone,
                    weights,
                    device,
                    options,
                    display,
                    () -> breaks.reason().isPresent());
            try {
                return training.train(
                        sources(source.images().good()),
                        sources(source.defects()),
                        Map.of("version", Version.number()));
            } catch (IllegalArgumentException wrong) { // the options were checked before: it is the images
                throw new DatasetException(folder, String.valueOf(wrong.getMessage()), wrong);
            }
        }
    }

    private static List<ImageSource> sources(List<Path> files) {
        return files.stream().map(ImageSource::of).toList();
    }

    private Optional<DetectorEvaluation> test(Detector detector, Cancellation breaks) {
        var images = source.images().test();
        if (images.isEmpty()) {
            return Optional.empty();
        }
        try (Progress progress = console.progress("testing", images.size())) {
            return Optional.of(DetectorEvaluation.of(detector, images, done -> {
                if (breaks.reason().isPresent()) {
                    throw new CancellationException("testing was cancelled");
                }
                progress.accept(done);
            }));
        }
    }

    private void write(Path out, DetectorTraining.Result result, Optional<DetectorEvaluation> evaluation)
            throws IOException {
        JsonText.write(out.resolve("config.json"), configuration());
        JsonText.write(out.resolve("candidates.json"), result.candidates());
        if (evaluation.isPresent()) {
            JsonText.write(out.resolve("evaluation.json"), json(evaluation.get(), result));
            DetectorText.writePredictions(out.resolve("predictions.csv"), evaluation.get());
        }
        JsonText.write(out.resolve(DetectorReport.ODD), result.odd());
        result.detector().save(out.resolve(ModelFile.NAME));
        if (report) {
            DetectorReport.write(out, result.detector(), out.resolve(RunReport.FILE), Version.number());
        }
    }

    private static Map<String, Object> json(DetectorEvaluation evaluation, DetectorTraining.Result result) {
        return DetectorMeasures.json(evaluation, result.detector().card().threshold());
    }

    private void print(Path out, DetectorTraining.Result result, Optional<DetectorEvaluation> evaluation) {
        result.unreadable().forEach(image -> console.warn("skipping " + QuotedText.visible(image)));
        DetectorCard card = result.detector().card();
        if (!result.odd().isEmpty()) {
            double without = card.thresholdWithout(result.odd().size());
            console.warn(result.odd().size() + " good images look odd; check whether they are good: "
                    + QuotedText.visible(
                            String.join(", ", result.odd().stream().limit(SHOWN).toList()))
                    + (result.odd().size() > SHOWN ? ", ..." : "")
                    + (without < card.threshold()
                            ? String.format(
                                    Locale.ROOT,
                                    "; with them the threshold is %.3g, without about %.3g",
                                    card.threshold(),
                                    without)
                            : ""));
        }
        DetectorText.fewImages(card).ifPresent(console::warn);
        if (options.falseAlarms().isEmpty() && card.falseAlarms() > DetectorTraining.Options.DEFAULT_RATE) {
            console.warn(String.format(
                    Locale.ROOT,
                    "the rate of false alarms is %.4f, the lowest that %d good images allow; 0.01 needs %d",
                    card.falseAlarms(),
                    card.calibration().size(),
                    Conformal.needed(DetectorTraining.Options.DEFAULT_RATE)));
        }
        console.out()
                .print(DetectorText.candidates(
                        result.candidates(), !source.defects().isEmpty()));
        result.candidates().stream()
                .filter(DetectorTraining.Candidate::chosen)
                .filter(one -> one.auroc() - one.error() <= 0.5)
                .findFirst()
                .ifPresent(one -> console.warn(String.format(
                        Locale.ROOT,
                        "an AUROC of %.1f ± %.1f %% is no better than chance: add good images, or examples by"
                                + " --defects",
                        100 * one.auroc(),
                        100 * one.error())));
        evaluation.ifPresent(found -> {
            found.skipped().forEach(image -> console.warn("skipping " + QuotedText.visible(image)));
            console.out().println();
            console.out().print(DetectorText.measures(json(found, result), card));
        });
        console.out().printf(Locale.ROOT, "%nmodel: %s%n", out.resolve(ModelFile.NAME));
        if (report) {
            console.out().println("report: " + out.resolve(RunReport.FILE));
        }
        console.out().println("try: " + CommandHint.of("predict", out, "IMAGE"));
    }
}
