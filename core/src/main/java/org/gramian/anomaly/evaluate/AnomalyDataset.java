package org.gramian.anomaly.evaluate;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.gramian.image.ImageFormat;

/**
 * Images in the layout of MVTec AD: {@code train/good}, {@code test/good}, {@code test/DEFECT} and masks in {@code
 * ground_truth/DEFECT/NAME.png} or {@code NAME_mask.png}; or one folder of good images.
 *
 * @param good good images to train on
 * @param test labelled images; empty for one folder
 */
public record AnomalyDataset(List<Path> good, List<TestImage> test) {
    private static final Set<String> GOOD = Set.of("good", "ok", "normal");

    /**
     * An image to test a detector with.
     *
     * @param kind name of its folder
     * @param anomalous whether the folder is not that of good images
     * @param mask image whose bright pixels are the defect, if there is one
     */
    public record TestImage(Path file, String kind, boolean anomalous, Optional<Path> mask) {}

    public AnomalyDataset {
        good = List.copyOf(good);
        test = List.copyOf(test);
    }

    /** Returns whether a folder has the layout of MVTec AD: {@code train/good} and no other folder in {@code train}. */
    public static boolean isMvtec(Path folder) throws IOException {
        Path train = folder.resolve("train");
        return Files.isDirectory(train)
                && folders(train).size() == 1
                && isGood(folders(train).getFirst())
                && Files.isDirectory(folder.resolve("test"));
    }

    /** Reads a folder in the layout of MVTec AD. */
    public static AnomalyDataset mvtec(Path folder) throws IOException {
        return new AnomalyDataset(images(folders(folder.resolve("train")).getFirst()), tests(folder));
    }

    /** Reads the test images of a folder with {@code test}, or with one subfolder per kind of image. */
    public static List<TestImage> tests(Path folder) throws IOException {
        Path test = Files.isDirectory(folder.resolve("test")) ? folder.resolve("test") : folder;
        List<TestImage> found = new ArrayList<>();
        for (Path kind : folders(test)) {
            if (kind.equals(folder.resolve("ground_truth")) || kind.equals(folder.resolve("train"))) {
                continue;
            }
            String name = kind.getFileName().toString();
            for (Path file : images(kind)) {
                found.add(new TestImage(
                        file,
                        name,
                        !isGood(kind),
                        mask(folder.resolve("ground_truth").resolve(name), file)));
            }
        }
        return found;
    }

    /** Returns whether a folder has images of one class: its own images and no subfolder, or those of one subfolder. */
    public static boolean isOneClass(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        List<Path> classes = folders(folder);
        if (holdsImages(folder)) {
            return classes.isEmpty();
        }
        return classes.size() == 1 && holdsImages(classes.getFirst());
    }

    private static boolean holdsImages(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.anyMatch(AnomalyDataset::isImage);
        }
    }

    private static Optional<Path> mask(Path folder, Path image) {
        String name = image.getFileName().toString();
        String stem = name.substring(0, Math.max(name.lastIndexOf('.'), 0));
        return Stream.of(stem + ".png", stem + "_mask.png", stem + ".bmp")
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst();
    }

    private static boolean isGood(Path folder) {
        return GOOD.contains(folder.getFileName().toString().toLowerCase(Locale.ROOT));
    }

    private static List<Path> folders(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(Files::isDirectory)
                    .filter(path -> !path.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        }
    }

    /** Returns the image files of a folder and its subfolders, by their extension. */
    public static List<Path> images(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
            return files.filter(AnomalyDataset::isImage).sorted().toList();
        }
    }

    private static boolean isImage(Path file) {
        return ImageFormat.isImage(file.getFileName().toString()) && Files.isRegularFile(file);
    }
}
