package org.gramian.cli.command;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.gramian.anomaly.AnomalyMap;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.DetectorNetwork;
import org.gramian.anomaly.Inspection;
import org.gramian.anomaly.evaluate.AnomalyDataset;
import org.gramian.anomaly.evaluate.DetectorEvaluation;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.DetectorText;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Progress;
import org.gramian.explain.HeatImage;
import org.gramian.export.OpenDetector;
import org.gramian.export.OpenModel;
import org.gramian.image.Image;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult;
import org.gramian.image.dataset.DatasetException;
import org.gramian.model.UnreadableImageException;
import org.gramian.report.AnomalyOverlay;
import org.gramian.report.DetectorMeasures;
import org.jspecify.annotations.Nullable;

/** What {@code predict}, {@code evaluate}, {@code explain} and {@code show} do with a detector of anomalies. */
final class DetectorCommands {
    private static final ImageReader READER = new ImageReader(ImageLimits.DEFAULT);

    private DetectorCommands() {}

    /** Describes a detector for a message about options. */
    static String describe(Path file) {
        return file + ": a detector of anomalies";
    }

    /** Rejects {@code --false-alarms} for a classifier. */
    static void requireDetector(Path file) throws IOException {
        if (!OpenDetector.isDetector(file)) {
            OpenModel.header(file); // reports a missing or damaged file
            throw new IllegalArgumentException(
                    "--false-alarms: expected a detector of anomalies, found the classifier " + file);
        }
    }

    static void predict(Detector detector, ResultLines lines, List<Path> files, Progress progress) {
        int done = 0;
        for (Path file : files) {
            String name = file.toString();
            switch (READER.read(file)) {
                case ReadResult.Unreadable problem -> lines.failed(name, problem.reason());
                case ReadResult.Readable(Image image, var _) ->
                    lines.write(name, result(detector.inspect(image), detector.card()));
            }
            progress.accept(++done);
        }
    }

    private static ResultLines.Result result(Inspection found, DetectorCard card) {
        String text = String.format(
                Locale.ROOT,
                "%-9s  score %.3f  p %.4f%s",
                found.isAnomalous() ? "anomalous" : "good",
                found.score(),
                found.pValue(),
                found.regions().isEmpty() ? "" : "  " + text(found.regions()));
        List<String> row = List.of(
                Boolean.toString(found.isAnomalous()),
                Double.toString(found.score()),
                Double.toString(found.pValue()),
                Double.isFinite(card.threshold()) ? Double.toString(card.threshold()) : "");
        return new ResultLines.Result(text, DetectorMeasures.json(found, card), List.of(row));
    }

    private static String text(List<AnomalyMap.Region> regions) {
        AnomalyMap.Region first = regions.getFirst();
        String more = regions.size() == 1 ? "" : " and " + (regions.size() - 1) + " more";
        return first.width() + "×" + first.height() + " at " + first.x() + "," + first.y() + more;
    }

    static int evaluate(Detector detector, Path folder, Console console, @Nullable Path json, @Nullable Path csv)
            throws IOException {
        List<AnomalyDataset.TestImage> images = AnomalyDataset.tests(folder);
        if (images.isEmpty()) {
            throw new DatasetException(
                    folder, "expected images in the subfolder good and in one subfolder per defect, found none");
        }
        DetectorEvaluation evaluation;
        try (Progress progress = console.progress("evaluating", images.size())) {
            evaluation = DetectorEvaluation.of(detector, images, progress::accept);
        }
        evaluation.skipped().forEach(image -> console.warn("skipping " + QuotedText.visible(image)));
        Map<String, Object> measures =
                DetectorMeasures.json(evaluation, detector.card().threshold());
        console.print(DetectorText.measures(measures, detector.card()));
        if (json != null) {
            JsonText.write(json, measures);
        }
        if (csv != null) {
            DetectorText.writePredictions(csv, evaluation);
        }
        return evaluation.skipped().isEmpty() ? ExitCode.DONE : ExitCode.DATA;
    }

    /** Draws the map over an image, with a box around each region. */
    static int explain(Detector detector, Path imageFile, Path out, @Nullable Path json, Console console)
            throws IOException {
        Image image = switch (READER.read(imageFile)) {
            case ReadResult.Unreadable problem -> throw new UnreadableImageException(imageFile, problem);
            case ReadResult.Readable(Image read, var _) -> read;
        };
        Inspection found = detector.inspect(image);
        BufferedImage drawn = AnomalyOverlay.draw(image, found, detector.card().mapThreshold());
        AtomicFile.put(out, partial -> Files.write(partial, HeatImage.png(drawn)));
        ResultLines.Result result = result(found, detector.card());
        if (json != null) {
            JsonText.write(json, result.json());
        }
        console.out().println(result.text());
        console.say("wrote " + out);
        return ExitCode.DONE;
    }

    /** Prints the card. */
    static int show(Path file, Console console, boolean json) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            DetectorNetwork network = DetectorNetwork.read(file, arena);
            Map<String, Object> content = content(file, network.kind().toLowerCase(Locale.ROOT), network.card());
            console.print(json ? JsonText.indented(content) + System.lineSeparator() : DetectorText.table(content));
        }
        return ExitCode.DONE;
    }

    private static Map<String, Object> content(Path file, String kind, DetectorCard card) {
        Map<String, Object> content = new LinkedHashMap<>();
        content.put("file", file.toString());
        content.put("detector", kind + (card.wholeScale() > 0 ? "+mean" : ""));
        content.putAll(DetectorMeasures.json(card));
        return content;
    }

    static List<String> columns() {
        return List.of("image", "anomalous", "score", "p_value", "threshold", "error");
    }

    /** Returns a detector with a rate of false alarms, if one is given, and warns if it had too few images for it. */
    static Detector withRate(Detector detector, @Nullable Double rate, Console console) {
        Detector used = Optional.ofNullable(rate).map(detector::withFalseAlarms).orElse(detector);
        DetectorText.fewImages(used.card()).ifPresent(console::warn);
        return used;
    }
}
