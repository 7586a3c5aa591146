package org.gramian.train.loop;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.linear.LabelledRows;
import org.gramian.linear.LinearModel;
import org.gramian.linear.LinearSolver;
import org.gramian.linear.UnsolvableException;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.train.feature.FeatureTable;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/**
 * Gives a model the classifier that is solved for from the descriptors of all training crops: they are computed once, by
 * the device of the model, and stay there: products of descriptors are the larger part of the work.
 *
 * @param model whose pooling is fitted
 * @param session told how far it is; a break that is due ends it at once, and there is no model then
 * @param material knows which training images are near-duplicates
 */
record SolvedHead(Model model, TrainingSession session, TrainingData material) {
    private static final String WEIGHT = Head.CLASSIFIER + ".weight";
    private static final int MOST_HALVINGS = 10;
    private static final String BIAS = Head.CLASSIFIER + ".bias";

    /**
     * Describes, solves, and sets weight and bias.
     *
     * @param targets what an image of each class counts
     * @param batch crops that are described at once
     */
    void solve(LinearSolver solver, FeatureTable table, Targets targets, int batch) {
        solver.requireRoom(table.count(), descriptorSize());
        try (Scope _ = Scope.open()) {
            LinearModel found = solved(solver, table, targets, batch);
            assign(found.weight(), found.bias());
            session.events().accept(new TrainEvent.Solved(solver.text(), found.found()));
        }
    }

    /**
     * Solves the classifier of a model whose head was trained by steps, on the descriptors that these ended with. The solved
     * classifier is kept if it makes no more errors on the validation set. Without one it is kept if it could be cross-validated:
     * errors on training images say nothing.
     *
     * <p>The pooling was trained on the labels of the cross-validation, whose temperature therefore makes scores too large for other
     * images. They are halved while that lowers the validation loss, which changes no prediction.
     *
     * @param judge by the validation set, if there is one
     * @param trained judgement of the trained classifier
     * @return judgement of the classifier that is kept
     */
    ValidationScore refit(
            LinearSolver solver,
            FeatureTable table,
            Targets targets,
            int batch,
            @Nullable Validator judge,
            ValidationScore trained) {
        try {
            solver.requireRoom(table.count(), descriptorSize());
        } catch (IllegalArgumentException tooMany) {
            session.events().accept(new TrainEvent.RefitSkipped(String.valueOf(tooMany.getMessage())));
            return trained;
        }
        try (Scope _ = Scope.open()) {
            Tensor weight = Tensors.copy(model.headParameters().get(WEIGHT).value());
            Tensor bias = Tensors.copy(model.headParameters().get(BIAS).value());
            LinearModel found = solved(solver, table, targets, batch);
            Optional<ValidationScore> solved = Optional.ofNullable(judge).map(one -> judged(found, one));
            if (judge == null) {
                assign(found.weight(), found.bias());
            }
            boolean kept = solved.map(one -> one.error() <= trained.error())
                    .orElse(found.crossValidation().isPresent());
            if (!kept) {
                assign(weight, bias);
            }
            session.events()
                    .accept(new TrainEvent.Refitted(
                            new TrainEvent.Solved(solver.text(), found.found()),
                            kept,
                            solved.map(_ -> trained),
                            solved));
            return kept ? solved.orElse(trained) : trained;
        } catch (UnsolvableException none) {
            session.events().accept(new TrainEvent.RefitSkipped(String.valueOf(none.getMessage())));
            return trained;
        }
    }

    /** Gives the model a solved classifier, with scores of the size that has the lowest validation loss. */
    private ValidationScore judged(LinearModel found, Validator judge) {
        assign(found.weight(), found.bias());
        ValidationScore best = judge.judge();
        for (int halvings = 1; halvings <= MOST_HALVINGS; halvings++) {
            assignScaled(found, StrictMath.pow(0.5, halvings));
            ValidationScore next = judge.judge();
            if (next.loss() >= best.loss()) {
                assignScaled(found, StrictMath.pow(0.5, halvings - 1.0));
                break;
            }
            best = next;
        }
        return best;
    }

    private void assignScaled(LinearModel found, double factor) {
        assign(Elementwise.mul(found.weight(), factor), Elementwise.mul(found.bias(), factor));
    }

    private long descriptorSize() {
        return model.head().pooling().descriptorSize(model.backbone().channels());
    }

    private void assign(Tensor weight, Tensor bias) {
        model.headParameters().assign(Map.of(WEIGHT, weight, BIAS, bias));
    }

    private LinearModel solved(LinearSolver solver, FeatureTable table, Targets targets, int batch) {
        Tensor rows = Tensors.empty(Shape.of(table.count(), descriptorSize()), DType.F32, model.device());
        for (int start = 0; start < table.count(); start += batch) {
            session.preparing(new TrainEvent.Solving("descriptors", start, table.count()));
            describe(table, rows, start, Math.min(table.count(), start + batch));
        }
        return solver.solve(labelled(rows, table, targets), this::watch);
    }

    private void watch(String task, int done, int all) {
        session.preparing(new TrainEvent.Solving(task, done, all));
    }

    private void describe(FeatureTable table, Tensor rows, int start, int end) {
        int[] places = IntStream.range(start, end).toArray();
        Tensor part = Views.slice(rows, 0, start, end);
        new HeadInference(model, table::rows).descriptors(places, descriptors -> {
            part.copyFrom(descriptors);
            return part;
        });
    }

    /** The crops of an image are a group. */
    private LabelledRows labelled(Tensor rows, FeatureTable table, Targets targets) {
        int[] images = new int[table.count()];
        Arrays.setAll(images, place -> place / table.crops());
        int[] labels = Arrays.stream(images)
                .map(image -> table.samples().get(image).label())
                .toArray();
        double[] weights = new double[model.head().classes()];
        Arrays.setAll(weights, targets::weight);
        int[] first = material.firstDuplicates(table.samples());
        return LabelledRows.of(rows, labels, images, weights.length)
                .weighted(weights)
                .withDuplicates(Arrays.stream(images).map(image -> first[image]).toArray());
    }
}
