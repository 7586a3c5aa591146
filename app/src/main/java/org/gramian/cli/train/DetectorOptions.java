package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.gramian.anomaly.DetectorTraining;
import org.gramian.anomaly.evaluate.AnomalyDataset;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.DatasetException;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of {@code train} for a detector of anomalies, and when one is trained. */
final class DetectorOptions {
    /** Options of {@code train} that a detector knows. */
    static final Set<String> KNOWN = Set.of(
            "--good-only",
            "--defects",
            "--false-alarms",
            "--tile",
            "--backbone",
            "--weights",
            "--weights-dir",
            "--input",
            "--image-size",
            "--seed",
            "--out",
            "--device",
            "--threads",
            "--decode-threads",
            "--deterministic",
            "--libtorch",
            "--accelerate",
            "--no-report",
            "--dry-run");

    private static final Set<String> OWN = Set.of("--defects", "--false-alarms", "--tile");

    @Option(names = "--good-only", description = "all images of DIR are good: train a detector of anomalies")
    private boolean goodOnly;

    @Option(
            names = "--defects",
            paramLabel = "DIR",
            description = "images with defects to compare candidate detectors (default: synthetic defects)")
    private @Nullable Path defects;

    @Option(
            names = "--false-alarms",
            paramLabel = "RATE",
            description = "largest share of good images called anomalous (default: 0.01; more below 99 images)")
    private @Nullable Double falseAlarms;

    @Option(
            names = "--tile",
            paramLabel = "PIXELS",
            description = "detector: cut large images into tiles with sides of PIXELS (default: whole images)")
    private @Nullable Integer tile;

    /**
     * Images of a detector.
     *
     * @param reason why a detector is trained
     */
    record Source(String reason, AnomalyDataset images, List<Path> defects) {}

    /**
     * Returns the images if a folder is one for a detector.
     *
     * @param typed the given options
     */
    Optional<Source> source(Path folder, List<String> typed) throws IOException {
        if (!goodOnly && AnomalyDataset.isMvtec(folder)) {
            return Optional.of(source("train/good and test/", AnomalyDataset.mvtec(folder)));
        }
        if (goodOnly || AnomalyDataset.isOneClass(folder)) {
            String reason = goodOnly ? "--good-only" : "images of one class";
            if (defects != null && Files.exists(defects) && defects.toRealPath().startsWith(folder.toRealPath())) {
                throw new IllegalArgumentException("--defects " + defects + ": expected a folder outside " + folder
                        + ", whose images all count as good; pass the folder of good images as DIR");
            }
            return Optional.of(source(reason, new AnomalyDataset(AnomalyDataset.images(folder), List.of())));
        }
        if (defects != null || falseAlarms != null || tile != null) {
            String own = typed.stream().filter(OWN::contains).collect(Collectors.joining(", "));
            throw new IllegalArgumentException(own + ": expected one class of good images in " + folder
                    + ", found another layout; add --good-only if all images are good");
        }
        return Optional.empty();
    }

    private Source source(String reason, AnomalyDataset images) throws IOException {
        if (defects == null) {
            return new Source(reason, images, List.of());
        }
        List<Path> found = AnomalyDataset.images(defects);
        if (found.isEmpty()) {
            throw new DatasetException(defects, "expected images with defects, found none; leave --defects out");
        }
        return new Source(reason, images, found);
    }

    DetectorTraining.Options options(Settings settings, int threads) {
        return new DetectorTraining.Options(
                settings.find(TrainConfig.CROPS).map(CropPlan::size).orElse(DetectorTraining.Options.DEFAULT_SIDE),
                tile == null ? 0 : tile,
                falseAlarms == null ? OptionalDouble.empty() : OptionalDouble.of(falseAlarms),
                settings.find(TrainConfig.SEED).orElse(0L),
                threads);
    }
}
