package org.gramian.benchmarks;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What is measured. */
enum Workload {
    /** One step of training of the SPD head: forward, backward to the features, and both optimizers. */
    HEAD("SPD head, training step"),
    /** VGG-16, conv1_1 to conv5_3, forward only. */
    VGG_FORWARD("VGG-16 to conv5_3, forward"),
    /** VGG-16, conv1_1 to conv5_3, forward and backward of the mean of the output. */
    VGG_TRAINING("VGG-16 to conv5_3, forward and backward"),
    /** The kernel matrix of one picture: the matrix form against the paper's double loop in plain Java. */
    DEFINITION("kernel matrix of one picture"),
    /** Pictures from their files to crops, with no network behind: enough of them to take a second. */
    PICTURES("JPEG files of 512×384 decoded, resized and cropped");

    private final String title;

    Workload(String title) {
        this.title = title;
    }

    /** The name on the command line, as {@code vgg-forward}. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Workload parse(String text) {
        return Arrays.stream(values())
                .filter(workload -> workload.text().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no workload '" + text + "'; there are "
                        + Arrays.stream(values()).map(Workload::text).collect(Collectors.joining(", "))));
    }

    /** What it is, with its sizes. */
    String title(TaskSpec spec) {
        if (this == PICTURES) {
            return spec.number("batch") + " " + title + " to " + square(spec.number("side"));
        }
        String sizes = this == HEAD || this == DEFINITION
                ? spec.number("channels") + " maps of " + square(spec.number("side"))
                : square(spec.number("side")) + " pixels";
        return title + " (" + (this == DEFINITION ? "" : "batch " + spec.number("batch") + ", ") + sizes + ")";
    }

    private static String square(int side) {
        return side + "×" + side;
    }

    /** The task's name and sizes; the batch may be another than the size's. */
    TaskSpec spec(Size size, @Nullable Integer batch) {
        if (this == PICTURES) {
            return pictures(size, batch);
        }
        SequencedMap<String, String> values = new LinkedHashMap<>();
        boolean vgg = this == VGG_FORWARD || this == VGG_TRAINING;
        if (this != DEFINITION) {
            values.put("batch", "" + (batch != null ? batch : vgg ? size.vggBatch : size.headBatch));
        }
        if (vgg) {
            values.put("width", "" + size.width);
            values.put("side", "" + size.pixels);
        } else {
            values.put("channels", "" + size.channels);
            values.put("side", "" + size.side);
        }
        if (this == HEAD) {
            values.put("classes", "" + size.classes);
        }
        return new TaskSpec(text(), values);
    }

    private TaskSpec pictures(Size size, @Nullable Integer batch) {
        SequencedMap<String, String> values = new LinkedHashMap<>();
        values.put("batch", "" + (batch != null ? batch : size.pictures));
        values.put("side", "" + size.pixels);
        return new TaskSpec(text(), values);
    }

    /** The task of a worker; {@code definition-loop} is the second side of {@link #DEFINITION}. */
    static Task open(TaskSpec spec) {
        if (spec.name().equals(KernelLoopTask.NAME)) {
            return new KernelLoopTask(spec);
        }
        return switch (parse(spec.name())) {
            case HEAD -> new HeadTask(spec);
            case VGG_FORWARD -> new VggForwardTask(spec);
            case VGG_TRAINING -> new VggTrainingTask(spec);
            case DEFINITION -> new KernelMatrixTask(spec);
            case PICTURES -> new PicturesTask(spec);
        };
    }
}
