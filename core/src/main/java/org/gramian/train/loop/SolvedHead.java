package org.gramian.train.loop;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import org.gramian.basis.CountSketch;
import org.gramian.image.dataset.Sample;
import org.gramian.linear.ClassDistances;
import org.gramian.linear.CrossValidation;
import org.gramian.linear.LabelledRows;
import org.gramian.linear.LinearModel;
import org.gramian.linear.LinearSolver;
import org.gramian.linear.LinearSolver.UnsolvableException;
import org.gramian.model.Engine;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.OpenSet.KnownClasses;
import org.gramian.model.OpenSet.KnownImages;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Solved;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.loop.Fit.StageOutcome;
import org.gramian.train.loop.TrainingStage.Validator;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/** Solves the classifier of a model from the descriptors of all training crops. */
record SolvedHead(Model model, TrainingContext context, TrainingData data, int batch) {
    private static final String WEIGHT = Head.CLASSIFIER + ".weight";
    private static final int MAX_HALVINGS = 10;
    private static final String BIAS = Head.CLASSIFIER + ".bias";

    /**
     * Solution, from which the distances from the classes can be fitted.
     *
     * @param scores out-of-fold scores; empty if the classifier was not cross-validated
     * @param rows short descriptors of the crops
     */
    record Solution(Solved solved, Optional<CrossValidation> scores, LabelledRows rows, FeatureTable table)
            implements AutoCloseable {
        SequencedMap<Sample, Logits> outOfFold() {
            SequencedMap<Sample, Logits> all = new LinkedHashMap<>();
            scores.ifPresent(found -> {
                List<double[]> ofImages = found.logProbabilities();
                for (int i = 0; i < ofImages.size(); i++) {
                    all.put(table.samples().get(i), Logits.of(ofImages.get(i)));
                }
            });
            return all;
        }

        @Override
        public void close() {
            rows.rows().close();
        }
    }

    /** Computes the descriptors, solves the classifier, and sets its weight and bias. */
    Solution solve(LinearSolver solver, FeatureTable table, Targets targets) {
        solver.requireRoom(table.count(), descriptorSize());
        try (Scope _ = Scope.open()) {
            Tensor rows = descriptors(table);
            LinearModel found = solver.solve(labelled(rows, table, targets), this::progress);
            assign(found.weight(), found.bias());
            Solved solution = new Solved(solver.text(), found.found());
            context.send(solution);
            LabelledRows shortened = labelled(shortened(rows), table, targets);
            Scope.detach(shortened.rows());
            return new Solution(solution, found.crossValidation(), shortened, table);
        }
    }

    private Tensor shortened(Tensor rows) {
        CountSketch sketch = CountSketch.of(rows.size(1));
        Tensor shortened = Tensors.empty(
                Shape.of(rows.size(0), CountSketch.lengthOf(sketch.descriptorSize())), DType.F32, Device.CPU);
        for (long start = 0; start < rows.size(0); start += batch) {
            long end = Math.min(rows.size(0), start + batch);
            try (Scope _ = Scope.open()) {
                shortened
                        .slice(0, start, end)
                        .copyFrom(KnownClasses.shortened(sketch, Engine.toRows(rows.slice(0, start, end))));
            }
        }
        return shortened;
    }

    /** Fits the distances of the model from its classes. */
    void fitKnown(Solution solution) {
        try (Scope _ = Scope.open()) {
            model.setKnown(Optional.of(KnownClasses.of(descriptorSize(), ClassDistances.fit(solution.rows()))));
        }
    }

    /** Returns the training images with their out-of-fold scores and distances; empty if they were not cross-validated. */
    Optional<KnownImages> knownImages(Solution solution) {
        if (solution.scores().isEmpty()) {
            return Optional.empty();
        }
        int crops = solution.table().crops();
        return ClassDistances.outOfFold(solution.rows(), this::measuring).map(distances -> {
            List<float[][]> ofImages = new ArrayList<>();
            for (int i = 0; i < distances.length; i += crops) {
                ofImages.add(Arrays.stream(distances, i, i + crops)
                        .map(SolvedHead::toFloats)
                        .toArray(float[][]::new));
            }
            return new KnownImages(
                    solution.table().samples().stream().map(Sample::label).toList(),
                    List.copyOf(solution.outOfFold().values()),
                    ofImages);
        });
    }

    private static float[] toFloats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    private void measuring(String task, long done, long all) {
        context.measuring(new TrainEvent.Task(task, done, all));
    }

    private void progress(String task, long done, long all) {
        context.preparing(new TrainEvent.Task(task, done, all));
    }

    /**
     * Solves the classifier again after the head was trained, on its final descriptors. The solved classifier is kept if it makes no
     * more errors on the validation set. Without a validation set it is kept if it could be cross-validated: errors on training
     * images do not compare.
     *
     * <p>The pooling was trained on the labels of the cross-validation, so that the temperature found by it makes scores too large
     * for other images. They are halved while that lowers the validation loss, which changes no prediction.
     */
    StageOutcome refit(
            LinearSolver solver,
            FeatureTable table,
            Targets targets,
            @Nullable Validator validator,
            StageOutcome trained) {
        try {
            solver.requireRoom(table.count(), descriptorSize());
        } catch (IllegalArgumentException tooMany) {
            context.send(new TrainEvent.RefitSkipped(String.valueOf(tooMany.getMessage())));
            return trained;
        }
        try (Scope _ = Scope.open()) {
            Tensor weight = model.headParameters().get(WEIGHT).value().copy();
            Tensor bias = model.headParameters().get(BIAS).value().copy();
            LinearModel found = solver.solve(labelled(descriptors(table), table, targets), this::progress);
            Optional<ValidationScore> solved = Optional.ofNullable(validator).map(one -> assignBest(found, one));
            if (validator == null) {
                assign(found.weight(), found.bias());
            }
            boolean kept = solved.map(one -> one.error() <= trained.score().error())
                    .orElse(found.crossValidation().isPresent());
            if (!kept) {
                assign(weight, bias);
            }
            Solved solution = new Solved(solver.text(), found.found());
            Optional<ValidationScore> before = solved.map(_ -> trained.score());
            context.send(new TrainEvent.Refitted(solution, kept, accuracy(before), accuracy(solved)));
            StageResult.Refit refit = new StageResult.Refit(solution.text(), kept, before, solved);
            return new StageOutcome(
                    trained.stage(),
                    trained.early(),
                    kept ? solved.orElse(trained.score()) : trained.score(),
                    trained.result().map(result -> result.with(refit)),
                    kept ? Optional.of(solution) : Optional.empty());
        } catch (UnsolvableException none) {
            context.send(new TrainEvent.RefitSkipped(String.valueOf(none.getMessage())));
            return trained;
        }
    }

    private static OptionalDouble accuracy(Optional<ValidationScore> score) {
        return score.map(one -> OptionalDouble.of(1 - one.error())).orElse(OptionalDouble.empty());
    }

    /** Assigns a solved classifier, scaled to the lowest validation loss. */
    private ValidationScore assignBest(LinearModel found, Validator validator) {
        assign(found.weight(), found.bias());
        ValidationScore best = validator.validate();
        for (int halvings = 1; halvings <= MAX_HALVINGS; halvings++) {
            assignScaled(found, StrictMath.pow(0.5, halvings));
            ValidationScore next = validator.validate();
            if (next.loss() >= best.loss()) {
                assignScaled(found, StrictMath.pow(0.5, halvings - 1.0));
                break;
            }
            best = next;
        }
        return best;
    }

    private void assignScaled(LinearModel found, double factor) {
        assign(found.weight().mul(factor), found.bias().mul(factor));
    }

    private long descriptorSize() {
        return model.head().pooling().descriptorSize(model.backbone().channels());
    }

    private void assign(Tensor weight, Tensor bias) {
        model.headParameters().assign(Map.of(WEIGHT, weight, BIAS, bias));
    }

    private Tensor descriptors(FeatureTable table) {
        Tensor rows = Tensors.empty(Shape.of(table.count(), descriptorSize()), DType.F32, model.device());
        for (int start = 0; start < table.count(); start += batch) {
            context.preparing(new TrainEvent.Task("descriptors", start, table.count()));
            int end = Math.min(table.count(), start + batch);
            Tensor part = rows.slice(0, start, end);
            int[] indices = IntStream.range(start, end).toArray();
            new HeadInference(model, table).descriptors(indices, descriptors -> {
                part.copyFrom(descriptors);
                return part;
            });
        }
        return rows;
    }

    /** Labels the rows; the crops of an image are a group. */
    private LabelledRows labelled(Tensor rows, FeatureTable table, Targets targets) {
        int[] images = new int[table.count()];
        Arrays.setAll(images, index -> index / table.crops());
        int[] labels = Arrays.stream(images)
                .map(image -> table.samples().get(image).label())
                .toArray();
        double[] weights = new double[model.head().classes()];
        Arrays.setAll(weights, targets::weight);
        int[] first = data.firstDuplicates(table.samples());
        return LabelledRows.of(rows, labels, images, weights.length)
                .weighted(weights)
                .withDuplicates(Arrays.stream(images).map(image -> first[image]).toArray());
    }
}
