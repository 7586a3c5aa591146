package org.gramian.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.DetectorTraining.Candidate;
import org.gramian.anomaly.Inspection;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.image.Image;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.ReadResult;
import org.gramian.image.resize.Thumbnail;
import org.gramian.report.Figures.LabelledValue;
import tools.jackson.databind.JsonNode;

/**
 * Report of the run of a detector as a self-contained HTML file, laid out by the template {@code detector.jte}. Maps are computed from
 * the images, which must still be where they were.
 *
 * @param candidates compared detectors
 * @param synthetic whether they were compared by synthetic defects
 * @param measures on the test images; empty without any
 * @param sheets images with their maps
 */
public record DetectorReport(
        String name,
        String verdict,
        List<LabelledValue> tiles,
        List<Candidate> candidates,
        boolean synthetic,
        Chart scores,
        List<LabelledValue> measures,
        List<Sheet> sheets,
        List<LabelledValue> facts,
        String version) {
    /** Name of the odd good images in a run folder. */
    public static final String ODD = "odd.json";

    private static final String CANDIDATES = "candidates.json";
    private static final String EVALUATION = "evaluation.json";
    private static final String CONFIG = "config.json";
    private static final String ADVICE = "train the detector again";
    private static final int HIGHEST = 12;
    private static final int MISSED = 6;
    private static final int SIDE = 360;
    private static final int BINS = 30;

    public record Sheet(String title, String about, List<Shown> images) {}

    /**
     * An image with its map.
     *
     * @param wrong whether the result is wrong
     * @param source data URI of a JPEG; empty if the image cannot be read
     */
    public record Shown(String name, String kind, String result, boolean wrong, Optional<String> source) {}

    public static void write(Path run, Path out, String version) throws IOException {
        try (Detector detector = Detector.load(run)) {
            write(run, detector, out, version);
        }
    }

    /** Reads the folder of a run with its detector and writes the report atomically. */
    public static void write(Path run, Detector detector, Path out, String version) throws IOException {
        AtomicFile.require(out);
        new ReportFile(out).write(ReportFile.render("detector.jte", of(run, detector, version)));
    }

    private static DetectorReport of(Path run, Detector detector, String version) throws IOException {
        DetectorCard card = detector.card();
        List<Candidate> candidates = Files.exists(run.resolve(CANDIDATES))
                ? List.of(JsonText.read(run.resolve(CANDIDATES), Candidate[].class, "compared detectors", ADVICE))
                : List.of();
        Optional<JsonNode> evaluation = node(run.resolve(EVALUATION), "measures");
        List<JsonNode> images = evaluation
                .map(found -> found.path("images").valueStream().toList())
                .orElse(List.of());
        Optional<JsonNode> odd = node(run.resolve(ODD), "odd images");
        Map<String, Object> facts = DetectorMeasures.json(card);
        node(run.resolve(CONFIG), "a configuration")
                .ifPresent(config -> config.properties()
                        .forEach(one ->
                                facts.putIfAbsent(one.getKey(), one.getValue().asString())));
        return new DetectorReport(
                String.valueOf(run.toAbsolutePath().normalize().getFileName()),
                verdict(images, card) + withoutOdd(images, card, odd),
                tiles(card, candidates, evaluation),
                candidates,
                card.metrics().containsKey("auroc_synthetic"),
                histogram(card, images),
                evaluation.map(found -> DetectorMeasures.texts(found, card)).orElse(List.of()),
                sheets(detector, images, odd),
                facts.entrySet().stream()
                        .map(fact -> new LabelledValue(fact.getKey(), String.valueOf(fact.getValue())))
                        .toList(),
                version);
    }

    private static Optional<JsonNode> node(Path file, String content) throws IOException {
        return Files.exists(file)
                ? Optional.of(JsonText.read(file, JsonNode.class, content, ADVICE))
                : Optional.empty();
    }

    private static String verdict(List<JsonNode> images, DetectorCard card) {
        String promise =
                String.format(Locale.ROOT, "An image is anomalous with a score above %.3g. ", card.threshold());
        if (Double.isInfinite(card.threshold())) {
            return "No image can be anomalous: false alarms of at most " + card.falseAlarms() + " need "
                    + Figures.count(card.imagesNeeded(), "good image") + ", found "
                    + card.calibration().size() + ".";
        }
        if (images.isEmpty()) {
            return promise + "Without test images nothing is known about defects that are found.";
        }
        long bad = images.stream().filter(one -> is(one, "defective")).count();
        long found = images.stream()
                .filter(one -> is(one, "defective") && is(one, "anomalous"))
                .count();
        long alarms = images.stream()
                .filter(one -> !is(one, "defective") && is(one, "anomalous"))
                .count();
        return promise + "Found " + found + " of " + Figures.count(bad, "test image") + " with defects; "
                + Figures.count(alarms, "false alarm") + " in " + Figures.count(images.size() - bad, "good image")
                + ".";
    }

    /** Says what odd good images cost: few of them with high scores set the threshold. */
    private static String withoutOdd(List<JsonNode> images, DetectorCard card, Optional<JsonNode> odd) {
        int count = odd.map(JsonNode::size).orElse(0);
        double threshold = card.thresholdWithout(count);
        if (count == 0 || !(threshold < card.threshold())) {
            return "";
        }
        long found = images.stream()
                .filter(one -> is(one, "defective") && one.path("score").asDouble() > threshold)
                .count();
        return String.format(
                        Locale.ROOT,
                        " %s odd, see below: without %s the threshold would be about %.3g",
                        Figures.count(count, "good training image") + (count == 1 ? " looks" : " look"),
                        count == 1 ? "it" : "them",
                        threshold)
                + (images.isEmpty() ? "." : ", and " + found + " found.");
    }

    private static boolean is(JsonNode image, String property) {
        return image.get(property).booleanValue();
    }

    private static List<LabelledValue> tiles(
            DetectorCard card, List<Candidate> candidates, Optional<JsonNode> evaluation) {
        List<LabelledValue> tiles = new ArrayList<>();
        evaluation
                .map(found -> found.get("image_auroc"))
                .filter(JsonNode::isNumber)
                .ifPresent(auroc ->
                        tiles.add(new LabelledValue("image AUROC", Figures.percent(auroc.doubleValue()) + " %")));
        candidates.stream()
                .filter(Candidate::chosen)
                .forEach(chosen -> tiles.add(new LabelledValue("detector", chosen.name())));
        tiles.add(new LabelledValue(
                "good images", Figures.count(card.calibration().size())));
        tiles.add(new LabelledValue("false alarms", "≤ " + Figures.percent(card.falseAlarms()) + " %"));
        return tiles;
    }

    /** Draws the share of images by score: of good images that took no part in fitting, and of test images. */
    private static Chart histogram(DetectorCard card, List<JsonNode> images) {
        double[] calibration =
                card.calibration().stream().mapToDouble(Double::doubleValue).toArray();
        double[] good = scores(images, false);
        double[] bad = scores(images, true);
        double[] all = Stream.of(calibration, good, bad)
                .flatMapToDouble(Arrays::stream)
                .map(score -> Math.max(score, 1e-3))
                .sorted()
                .toArray();
        double low = all[0];
        double high = all[all.length - 1];
        Scale scale = high > 8 * low ? Scale.logarithmic(low, high) : Scale.linear(low, high);
        List<Chart.Line> lines = new ArrayList<>();
        lines.add(line("left-out good images", calibration, scale));
        if (good.length > 0) {
            lines.add(line("good test images", good, scale));
        }
        if (bad.length > 0) {
            lines.add(line("test images with defects", bad, scale));
        }
        double top = lines.stream().flatMap(line -> line.values().stream()).reduce(1.0, Double::max);
        List<Chart.Rule> rules = Double.isFinite(card.threshold())
                ? List.of(new Chart.Rule(0.5 + BINS * scale.at(card.threshold()), "threshold"))
                : List.of();
        Chart.Axis x = new Chart.Axis("score", Scale.exactly(0.5, BINS + 0.5), scale.ticks());
        return new Chart("share of images in %", x, Chart.Axis.of("share", Scale.linear(0, top)), lines, rules);
    }

    private static double[] scores(List<JsonNode> images, boolean defective) {
        return images.stream()
                .filter(one -> is(one, "defective") == defective)
                .mapToDouble(one -> one.get("score").doubleValue())
                .toArray();
    }

    private static Chart.Line line(String name, double[] scores, Scale scale) {
        double[] counts = new double[BINS];
        for (double score : scores) {
            counts[(int) Math.min(BINS - 1.0, BINS * scale.at(score))] += 100.0 / scores.length;
        }
        List<Double> shares = Arrays.stream(counts).boxed().toList();
        return new Chart.Line(
                name,
                shares,
                shares.stream().map(share -> new Chart.Range(0, share)).toList());
    }

    private static List<Sheet> sheets(Detector detector, List<JsonNode> images, Optional<JsonNode> odd) {
        List<Sheet> sheets = new ArrayList<>();
        add(
                sheets,
                "Highest scores",
                "Test images with the highest scores. Boxes are regions that good images exceed at most at the rate of false"
                        + " alarms.",
                images.stream().limit(HIGHEST).map(one -> shown(detector, one)).toList());
        List<JsonNode> missed = images.stream()
                .filter(one -> is(one, "defective") && !is(one, "anomalous"))
                .toList();
        add(
                sheets,
                "Missed defects",
                Math.min(MISSED, missed.size()) + " of " + Figures.count(missed.size(), "missed image")
                        + ", the lowest scores first.",
                missed.reversed().stream()
                        .limit(MISSED)
                        .map(one -> shown(detector, one))
                        .toList());
        List<JsonNode> names = odd.map(found -> found.valueStream().toList()).orElse(List.of());
        add(
                sheets,
                "Odd good images",
                Math.min(HIGHEST, names.size()) + " of " + Figures.count(names.size(), "training image")
                        + " that differ from the others: check whether they are good. They raise the threshold; without them it"
                        + " falls.",
                names.stream()
                        .limit(HIGHEST)
                        .map(name -> shown(detector, Path.of(name.asString()), "good", false))
                        .toList());
        return sheets;
    }

    private static void add(List<Sheet> sheets, String title, String about, List<Shown> images) {
        if (!images.isEmpty()) {
            sheets.add(new Sheet(title, about, images));
        }
    }

    private static Shown shown(Detector detector, JsonNode one) {
        boolean wrong = is(one, "defective") != is(one, "anomalous");
        return shown(
                detector, Path.of(one.get("image").asString()), one.get("kind").asString(), wrong);
    }

    private static Shown shown(Detector detector, Path file, String kind, boolean wrong) {
        String name = String.valueOf(file.getFileName());
        if (new ImageReader(ImageLimits.DEFAULT).read(file) instanceof ReadResult.Readable(Image image, var _)) {
            Inspection found = detector.inspect(image);
            Image drawn =
                    Image.of(AnomalyOverlay.draw(image, found, detector.card().mapThreshold()));
            String result = String.format(
                    Locale.ROOT,
                    "%s, score %.2f, p %.3f",
                    found.isAnomalous() ? "anomalous" : "good",
                    found.score(),
                    found.pValue());
            return new Shown(name, kind, result, wrong, Optional.of(Thumbnail.source(Thumbnail.of(drawn, SIDE))));
        }
        return new Shown(name, kind, "not found", wrong, Optional.empty());
    }
}
