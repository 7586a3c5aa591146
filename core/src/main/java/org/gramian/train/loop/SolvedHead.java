package org.gramian.train.loop;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;
import org.gramian.linear.LabelledRows;
import org.gramian.linear.LinearModel;
import org.gramian.linear.LinearSolver;
import org.gramian.model.Model;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;
import org.gramian.train.feature.FeatureTable;

/**
 * Gives a model the classifier that is solved for from the descriptors of all training crops: they are computed once, by
 * the device of the model, and stay there: products of descriptors are the larger part of the work.
 *
 * @param model whose pooling is fitted
 * @param session told how far it is; a break that is due ends it at once, and there is no model then
 */
record SolvedHead(Model model, Session session) {
    /**
     * Describes, solves, and sets weight and bias.
     *
     * @param targets what a picture of each class counts
     * @param batch crops that are described at once
     */
    void solve(LinearSolver solver, FeatureTable table, Targets targets, int batch) {
        long size = model.head().pooling().descriptorSize(model.backbone().channels());
        solver.requireRoom(table.count(), size);
        try (Scope _ = Scope.open()) {
            Tensor rows = Tensors.empty(Shape.of(table.count(), size), DType.F32, model.device());
            for (int start = 0; start < table.count(); start += batch) {
                session.preparing(new TrainEvent.Solving("descriptors to solve from", start, table.count()));
                describe(table, rows, start, Math.min(table.count(), start + batch));
            }
            LinearModel found = solver.solve(labelled(rows, table, targets), this::watch);
            model.headParameters().assign(Map.of("classifier.weight", found.weight(), "classifier.bias", found.bias()));
            session.events().accept(new TrainEvent.Solved(solver.text(), found.found()));
        }
    }

    private void watch(String task, int done, int all) {
        session.preparing(new TrainEvent.Solving(task, done, all));
    }

    private void describe(FeatureTable table, Tensor rows, int start, int end) {
        int[] places = IntStream.range(start, end).toArray();
        Tensor part = Views.slice(rows, 0, start, end);
        new HeadRun(model, table::rows).descriptors(places, descriptors -> {
            part.copyFrom(descriptors);
            return part;
        });
    }

    /** The crops of a picture are a group. */
    private LabelledRows labelled(Tensor rows, FeatureTable table, Targets targets) {
        int[] pictures = new int[table.count()];
        Arrays.setAll(pictures, place -> place / table.crops());
        int[] labels = Arrays.stream(pictures)
                .map(picture -> table.samples().get(picture).label())
                .toArray();
        double[] weights = new double[model.head().classes()];
        Arrays.setAll(weights, targets::weight);
        return LabelledRows.of(rows, labels, pictures, weights.length).weighted(weights);
    }
}
