package org.gramian.research;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.basis.Sha256;
import org.gramian.image.ImageFormat;
import org.gramian.image.ImageReader;
import org.gramian.image.ImageReader.ImageLimits;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.batch.BatchLoader;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.train.AdamW;
import org.gramian.train.StiefelOptions;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.Examples;
import org.gramian.train.loop.Fit;
import org.gramian.train.loop.History;
import org.gramian.train.loop.StageProgress;
import org.gramian.train.loop.StoredExamples;
import org.gramian.train.loop.Targets;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.loop.TrainingStage;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Augmenting;
import org.gramian.train.recipe.Recipe.Batching;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;
import org.gramian.train.recipe.StageRecipe;
import org.gramian.train.recipe.ValidationScore;

/**
 * One stage of the distillation of a backbone, in a folder: {@code checkpoint.safetensors} while it lasts, {@code history.csv}, and at
 * the end {@code STUDENT.safetensors}, the averaged weights. Called again after an interruption it resumes.
 *
 * @param student the network to train, cut at the layers to match; the teachers are cut at as many
 * @param start weights that the student starts from; empty for random ones
 * @param teachers at least one
 * @param images folders of images without labels, read recursively
 * @param options of training
 * @param folder of the results
 * @param context device, threads, listener and cancellation; its checkpointing gives the interval
 */
record Distillation(
        Backbone student,
        Optional<Weights> start,
        List<Teacher> teachers,
        List<Path> images,
        Options options,
        Path folder,
        TrainingContext context) {
    private static final int FINE_TUNING = 2;
    private static final int MEASURED_BATCHES = 4;
    private static final double WARMUP = 0.03;
    private static final double WEIGHT_DECAY = 0.05;
    private static final double CLIP = 5;
    private static final double MIXUP = 0.2;

    /**
     * Options of a stage.
     *
     * @param cosine whether Gram matrices are compared by their cosine instead of their distance
     * @param epochs number of epochs
     * @param learningRate of AdamW at its highest
     * @param batch images per step
     * @param imageSize side of the student's images
     * @param teacherSize side of the teachers' images: the same crops, resampled
     * @param ema decay of the moving average of weights, which becomes the result
     * @param precision of all networks
     * @param seed of initialization, order, augmentation and mixup
     */
    record Options(
            boolean cosine,
            int epochs,
            double learningRate,
            int batch,
            int imageSize,
            int teacherSize,
            double ema,
            Precision precision,
            long seed) {
        /** Returns the side at which crops are rendered. */
        int renderSize() {
            return Math.max(imageSize, teacherSize);
        }
    }

    Distillation {
        teachers = List.copyOf(teachers);
        images = List.copyOf(images);
        for (Teacher teacher : teachers) {
            if (teacher.backbone().cutLayers().size() != student.cutLayers().size()) {
                throw new IllegalArgumentException("expected as many layers of the teacher " + teacher.name()
                        + " as of the student " + student + ": the first matches the first, and so on");
            }
        }
    }

    /**
     * Trains, or resumes.
     *
     * @return the weight file; empty if the run was interrupted
     */
    Optional<Path> run() throws IOException {
        Files.createDirectories(folder);
        List<Sample> samples = samples();
        Recipe recipe = recipe();
        Checkpointing checkpointing =
                context.checkpointing().to(folder.resolve("checkpoint.safetensors"), identity(samples, recipe));
        TrainingContext training =
                context.withCheckpointing(checkpointing).withHistory(History.open(folder.resolve("history.csv")));
        Rendering rendering = new Rendering(
                new ImageReader(ImageLimits.DEFAULT)::read,
                CropPlan.parse("center").withSize(options.renderSize()).testing(),
                NetworkInput.BYTES);
        try (StoredExamples examples = StoredExamples.open(samples, rendering, recipe, training);
                Student trained = new Student(student, start, teachers, options, context.device());
                Checkpointing.Checkpoint checkpoint = checkpointing.find().orElse(null)) {
            if (checkpoint == null) {
                measureTargets(trained, examples);
            }
            Targets noTargets = Targets.of(recipe.loss(), new long[] {0, samples.size()});
            TrainingStage stage = new TrainingStage(FINE_TUNING, trained, recipe, training, examples, noTargets, null);
            Fit.StageOutcome outcome =
                    Fit.run(stage, StageProgress.startOf(FINE_TUNING, ValidationScore.NONE, 1), checkpoint);
            if (outcome.early().isPresent()) {
                return Optional.empty();
            }
            Path weights = folder.resolve(student.name() + ".safetensors");
            write(weights, trained, samples.size());
            Files.deleteIfExists(checkpointing.file().orElseThrow());
            return Optional.of(weights);
        }
    }

    /** Lists the images in the order of their paths; no crop of label 1 counts as correct, since all scores are 0. */
    private List<Sample> samples() throws IOException {
        List<Sample> samples = new ArrayList<>();
        for (Path place : images) {
            try (Stream<Path> files = Files.walk(place)) {
                files.filter(Files::isRegularFile)
                        .filter(file -> ImageFormat.isImage(String.valueOf(file.getFileName())))
                        .sorted()
                        .forEach(file -> samples.add(new Sample(file.toString(), 1, file)));
            }
        }
        if (samples.size() < 2) {
            throw new IllegalArgumentException("expected at least 2 images, found " + samples.size() + " in " + images);
        }
        return samples;
    }

    private Recipe recipe() {
        Schedule cosine = new Schedule.Cosine();
        AdamW rule = new AdamW(options.learningRate(), 0.9, 0.999, WEIGHT_DECAY, StiefelOptions.defaults());
        return new Recipe(
                new StageRecipe(0, 0, 0, cosine, 0, false),
                new StageRecipe(options.epochs(), options.learningRate(), 1, cosine, WARMUP * options.epochs(), false),
                new OptimizerRecipe(rule, CLIP, options.ema()),
                new Batching(options.batch(), 1),
                new Recipe.Loss(0, Recipe.Loss.ClassWeights.NONE),
                options.precision(),
                new Augmenting(Augmentation.parse("standard"), options.renderSize(), MIXUP, 0),
                Optional.empty(),
                Optional.empty(),
                0,
                options.seed());
    }

    private String identity(List<Sample> samples, Recipe recipe) throws IOException {
        StringBuilder text = new StringBuilder();
        text.append(student)
                .append('\n')
                .append(recipe)
                .append('\n')
                .append(options)
                .append('\n');
        start.ifPresent(
                weights -> text.append(weights.provenance().fingerprint()).append('\n'));
        teachers.forEach(teacher ->
                text.append(teacher.name()).append(teacher.fingerprint()).append('\n'));
        for (Sample sample : samples) {
            text.append(sample.name())
                    .append(' ')
                    .append(Files.size(sample.file()))
                    .append('\n');
        }
        return Sha256.hex(Sha256.of(text.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** Measures mean and standard deviation of the teachers' channels on the first batches. */
    private void measureTargets(Student trained, StoredExamples examples) {
        int[] order = BatchLoader.shuffled(examples.count(), options.seed(), 0);
        try (Scope _ = Scope.open();
                Examples.Pass pass = examples.pass(order, options.batch(), 0)) {
            List<Tensor> crops = new ArrayList<>();
            while (crops.size() < MEASURED_BATCHES && pass.hasNext()) {
                crops.add(pass.next().input().copy());
            }
            trained.measureTargets(crops);
        }
    }

    /** Writes the weights, batch norms unfolded, as {@code gramian weights import} and {@code --weights} read them. */
    private void write(Path file, Student trained, int count) throws IOException {
        SequencedMap<String, String> metadata = new LinkedHashMap<>();
        metadata.put("format", "pt"); // what other readers of safetensors look for
        metadata.put("architecture", student.name());
        metadata.put("input", student.preprocessing().text());
        metadata.put(
                "teachers",
                teachers.stream()
                        .map(teacher -> teacher.name() + " " + teacher.fingerprint())
                        .collect(Collectors.joining(", ")));
        metadata.put("images", Integer.toString(count));
        metadata.put("options", options.toString());
        try (Scope _ = Scope.open()) {
            SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
            for (Parameter parameter : trained.backbone().all()) {
                tensors.put(parameter.name(), StoredTensor.of(parameter.value()));
            }
            Safetensors.write(file, tensors, metadata);
        }
    }
}
