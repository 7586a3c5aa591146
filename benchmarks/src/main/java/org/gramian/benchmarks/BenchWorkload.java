package org.gramian.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.basis.EnumWords;

/** Workloads of the benchmark. */
public enum BenchWorkload {
    /** Scores of feature maps. */
    HEAD_FORWARD("head, forward", "scores of given feature maps"),
    /** One step of training of the head: forward, backward to the maps, and both optimizers. */
    HEAD_TRAINING("head, training step", "forward, backward to the feature maps, SGD, Riemannian SGD on W"),
    /** Scores of images. */
    NETWORK_FORWARD("backbone and head, forward", "scores of images"),
    /** One step of training of everything: forward, backward, and both optimizers. */
    NETWORK_TRAINING("backbone and head, training step", "forward, backward, SGD, Riemannian SGD on W"),
    /** Feature maps of images. */
    BACKBONE_FORWARD("backbone, forward", "feature maps of images"),
    /** Gradients of the mean of the feature maps, without an optimizer. */
    BACKBONE_TRAINING("backbone, forward and backward", "gradients of the mean of the feature maps"),
    /** The kernel matrix of one image: the matrix form against the paper's double loop in plain Java. */
    DEFINITION("kernel matrix of one image", "the matrix form against the paper's double loop in plain Java"),
    /** Images from their files to crops, with no network behind: enough of them to take a second. */
    IMAGES("JPEG files decoded, resized and cropped", "image files of 512x384 to crops"),
    /** Scores of images from their files, as {@code predict} computes them, against those of crops in memory. */
    PREDICTION("image files to scores", "scores from files against scores of crops in memory");

    private final String title;
    private final String meaning;

    BenchWorkload(String title, String meaning) {
        this.title = title;
        this.meaning = meaning;
    }

    /** Returns the name on the command line, as {@code head-training}. */
    public String text() {
        return EnumWords.text(this);
    }

    /** Returns a short description. */
    public String meaning() {
        return meaning;
    }

    /** Returns the title with its sizes. */
    String title(TaskSpec spec) {
        return switch (this) {
            case DEFINITION -> title;
            case IMAGES, PREDICTION -> title + ", " + spec.number("batch");
            default -> title + ", batch " + spec.number("batch") + ", " + spec.text("precision");
        };
    }

    /**
     * Parses names; {@code head}, {@code network} and {@code backbone} select both of theirs.
     *
     * @throws IllegalArgumentException if a name is unknown; the message lists the names
     */
    public static List<BenchWorkload> chosen(List<String> names) {
        return names.stream().flatMap(BenchWorkload::ofName).distinct().toList();
    }

    private static Stream<BenchWorkload> ofName(String name) {
        List<BenchWorkload> found = Arrays.stream(values())
                .filter(workload ->
                        workload.text().equals(name) || workload.text().startsWith(name + "-"))
                .toList();
        if (found.isEmpty()) {
            throw new IllegalArgumentException(
                    "unknown workload '" + name + "'; expected one of head, network, backbone, "
                            + String.join(", ", EnumWords.words(BenchWorkload.class)));
        }
        return found.stream();
    }

    boolean hasHead() {
        return this == HEAD_FORWARD || this == HEAD_TRAINING || this == NETWORK_FORWARD || this == NETWORK_TRAINING;
    }

    boolean hasBackbone() {
        return this == NETWORK_FORWARD
                || this == NETWORK_TRAINING
                || this == BACKBONE_FORWARD
                || this == BACKBONE_TRAINING;
    }

    /** Returns whether gradients are computed. */
    boolean trains() {
        return this == HEAD_TRAINING || this == NETWORK_TRAINING || this == BACKBONE_TRAINING;
    }

    /** Returns whether parameters are updated, so that losses change from step to step. */
    boolean moves() {
        return trains() && hasHead();
    }

    /**
     * Returns whether a value depends on rounding more than the tolerance of the precision allows: gradients before the
     * classifier of a network with random weights, whose feature maps are so similar that the distances of the kernel cancel,
     * and the values of a backbone in bfloat16, whose mean over all feature maps cancels.
     */
    boolean isLoose(String number) {
        boolean ofGradients = number.startsWith("|gradient of ") || number.startsWith("|update of ");
        return switch (this) {
            case NETWORK_TRAINING -> ofGradients && !number.contains(" classifier.");
            case BACKBONE_TRAINING -> true;
            default -> false;
        };
    }

    /**
     * Returns the tolerance of such values, from measurements: gradients of VGG-16 and head differed by 0.13 between two versions
     * of PyTorch, and by up to 0.28 with bfloat16 maps, those of EfficientNet-Lite4 alone by 0.065 with bfloat16 maps. It detects
     * a missing gradient, not a slightly wrong one. 0 stands for the tolerance of the precision.
     */
    double looseTolerance(Precision precision) {
        boolean rounded = precision == Precision.BF16;
        return switch (this) {
            case NETWORK_TRAINING -> rounded ? 0.5 : 0.25;
            case BACKBONE_TRAINING -> rounded ? 0.2 : 0;
            default -> 0;
        };
    }

    /** Creates the task of a worker. */
    static Task open(TaskSpec spec) {
        return switch (spec.name()) {
            case KernelTasks.Loop.NAME -> new KernelTasks.Loop(spec);
            case CeilingTask.NAME -> new CeilingTask(spec);
            case PredictionTask.IN_MEMORY -> new PredictionTask(spec);
            default -> open(chosen(List.of(spec.name())).getFirst(), spec);
        };
    }

    private static Task open(BenchWorkload workload, TaskSpec spec) {
        return switch (workload) {
            case HEAD_TRAINING, NETWORK_TRAINING, BACKBONE_TRAINING -> new TrainingTask(BenchModel.of(workload, spec));
            case HEAD_FORWARD, NETWORK_FORWARD, BACKBONE_FORWARD -> new ForwardTask(BenchModel.of(workload, spec));
            case DEFINITION -> new KernelTasks.MatrixForm(spec);
            case IMAGES -> new ImagesTask(spec);
            case PREDICTION -> new PredictionTask(spec);
        };
    }
}
