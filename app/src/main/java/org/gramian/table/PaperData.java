package org.gramian.table;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.gramian.image.dataset.Dataset;

/**
 * The datasets of the paper, and the accuracies in percent that it reports for them (VGG-16 at 224 pixels unless
 * noted): Gao, Wu, Bu, Jia, Learning a Robust Representation via a Deep Network on Symmetric Positive Definite
 * Manifolds, Pattern Recognition 92, 2019, tables 1 and 2.
 *
 * <p>A reported accuracy is shown for the whole dataset only; it does not apply to a part of its classes or images.
 */
public enum PaperData {
    DTD("DTD", "dtd", 47, 5640),
    FMD("FMD", "fmd", 10, 1000),
    KTH_TIPS_2B("KTH-TIPS-2b", "kth-tips-2b", 11, 4752),
    CUB("CUB-200-2011", "cub-200-2011", 200, 11788),
    AIRCRAFT("FGVC-Aircraft", "fgvc-aircraft", 100, 10000);

    /** Classes of FMD, by which plain folders and CSV files with folds are recognized as well. */
    private static final Set<String> MATERIALS =
            Set.of("fabric", "foliage", "glass", "leather", "metal", "paper", "plastic", "stone", "water", "wood");

    /** In the order of the constants; empty where the paper reports nothing. */
    private static final Map<String, List<String>> FIGURES = Map.ofEntries(
            Map.entry("fv-cnn", List.of("67.3", "73.5", "73.3", "49.9", "")),
            Map.entry("fv-fc-cnn", List.of("69.8", "76.4", "73.8", "54.9", "")),
            Map.entry("bcnn", List.of("69.6 / 67.9", "77.8", "79.7", "74.0", "74.3")),
            Map.entry("deep-ten", List.of("", "80.2 (ResNet-50)", "82.0 (ResNet-50)", "", "")),
            Map.entry("tail", List.of("66.8", "77.8", "78.3", "68.0", "75.0")),
            Map.entry("paper-bcnn", List.of("66.3", "74.9", "77.9", "67.2", "65.3")),
            Map.entry("paper-tail", List.of("64.5", "74.3", "76.7", "64.5", "75.1")),
            Map.entry("paper-kernel-no-conv", List.of("66.8", "76.7", "81.0", "72.2", "75.8")),
            Map.entry("paper-kernel-128", List.of("67.8", "78.3", "81.1", "64.6", "72.3")),
            Map.entry("paper-kernel", List.of("67.1", "78.6", "81.3", "72.1", "76.7")),
            Map.entry("paper", List.of("68.9", "79.2", "81.1", "72.4", "77.8")));

    private final String title;
    private final String layout;
    private final int classes;
    private final int images;

    PaperData(String title, String layout, int classes, int images) {
        this.title = title;
        this.layout = layout;
        this.classes = classes;
        this.images = images;
    }

    /** Returns which of them a dataset is, if it is complete. */
    public static Optional<PaperData> of(Dataset dataset) {
        return Arrays.stream(values()).filter(one -> one.isWhole(dataset)).findFirst();
    }

    private boolean isWhole(Dataset dataset) {
        return dataset.classes().size() == classes
                && dataset.samples().size() == images
                && (dataset.source().layoutName().equals(layout)
                        || (this == FMD && Set.copyOf(dataset.classes()).equals(MATERIALS)));
    }

    /** Returns the accuracy that the paper reports for a row. */
    public Optional<String> figure(TableRow row) {
        return Optional.ofNullable(FIGURES.get(row.name()))
                .map(all -> all.get(List.of(values()).indexOf(this)))
                .filter(text -> !text.isEmpty());
    }

    public String title() {
        return title;
    }
}
