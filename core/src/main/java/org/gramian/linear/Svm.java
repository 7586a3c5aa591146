package org.gramian.linear;

import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * The linear support vector machine, one class against the rest, with squared hinge loss: for each class
 *
 * <pre>{@code min_w  ½‖w‖² + C Σ_i s_i max(0, 1 − y_i w·z_i)²,   z_i = ((x_i − m)/s, 1)}</pre>
 *
 * <p>with m the mean of the rows, {@code s² = mean ‖x − m‖²}, and s_i the weight of the row's class: so C means the same for
 * descriptors of every kind. The bias is the weight of the constant 1 and regularized like the others, which matters
 * little as the rows are centred. Solved by dual coordinate descent to a relative duality gap of {@value #TOLERANCE} (Hsieh
 * et al., ICML 2008); the gap that was reached is told.
 *
 * <p>Without a C it is chosen from 0.01, 0.1, 1, 10 and 100 by five-fold cross-validation inside the rows, rows of one
 * group in one fold; there are fewer folds where a class has fewer groups, and C is 1 where a class has only one.
 *
 * <p>Memory: the rows once more where {@code 2d ≤ n}, else {@code n²} numbers.
 *
 * @param c cost of a mistake, positive; chosen where it is not given
 */
public record Svm(OptionalDouble c) implements LinearSolver {
    static final String WORD = "svm";
    static final String FORM =
            "svm[:C=NUMBER|auto]: linear support vector machines, one class against the rest; auto: C by"
                    + " cross-validation";

    private static final double TOLERANCE = 1e-6;
    private static final MemoryBound.Square SQUARE = new MemoryBound.Square(Features.MOST_PRODUCTS, Float.BYTES);

    public Svm {
        CostGrid.requirePositive(WORD, c);
    }

    @Override
    public String text() {
        return SolverText.write(WORD, "C", c);
    }

    @Override
    public void requireRoom(long rows, long size) {
        new MemoryBound(WORD, rows, size).requireRows();
        if (Features.usesProducts(rows, size)) {
            new MemoryBound(WORD, rows, size).requireSquare(SQUARE);
        }
    }

    @Override
    public long bytes(long rows, long size) {
        long matrix = Features.usesProducts(rows, size) ? rows * rows : rows * size;
        return Float.BYTES * (rows * size + 2 * matrix); // a copy on its way to the CPU
    }

    @Override
    public LinearModel fit(LabelledRows rows, SolveWatch watch) {
        requireRoom(rows.count(), rows.size());
        try (Scope scope = Scope.open()) {
            OneAgainstRest problems = new OneAgainstRest(rows, Features.of(rows), watch);
            CostGrid grid = CostGrid.of(c, CostSearch.GRID);
            CostSearch search = new CostSearch(problems, grid.costs());
            boolean divided = search.folds() > 1;
            double chosen = divided ? search.choose(grid.task()) : grid.unchosen();
            LinearModel model = solve(problems, chosen, CostGrid.found(chosen, search.folds()));
            return (divided ? model.with(search.crossValidation()) : model).keptBy(scope);
        }
    }

    private static LinearModel solve(OneAgainstRest problems, double cost, SequencedMap<String, Double> found) {
        LabelledRows rows = problems.rows();
        int n = rows.count();
        double[] costs = problems.costs(cost);
        int[] all = IntStream.range(0, n).toArray();
        double[] coefficients = new double[rows.classes() * n];
        DualDescent.Ending[] endings = new DualDescent.Ending[rows.classes()];
        problems.all("fitting svm", problems.blocks(), (block, eachPass) -> {
            DualDescent descent = problems.begin(block, all);
            DualDescent.Ending[] some = descent.descend(costs, TOLERANCE, eachPass);
            for (int c = 0; c < some.length; c++) {
                int label = block * OneAgainstRest.BLOCK + c;
                endings[label] = some[c];
                System.arraycopy(descent.coefficients(c), 0, coefficients, label * n, n);
            }
        });
        found.put(
                "gap",
                Arrays.stream(endings)
                        .mapToDouble(DualDescent.Ending::gap)
                        .max()
                        .orElse(0));
        found.put("passes", (double) Arrays.stream(endings)
                .mapToInt(DualDescent.Ending::passes)
                .max()
                .orElse(0));
        return model(problems.features(), coefficients, rows.classes(), found);
    }

    /** From the problem's own units back to those of the rows. */
    private static LinearModel model(
            Features features, double[] coefficients, int classes, SequencedMap<String, Double> found) {
        CentredRows centred = features.centred();
        int n = features.count();
        Tensor beta = Tensors.to(Tensors.of(coefficients, Shape.of(classes, n), DType.F32), centred.device());
        Tensor weight = Elementwise.mulInPlace(centred.combined(beta), 1 / (features.scale() * features.scale()));
        double[] bias = new double[classes];
        Arrays.setAll(
                bias,
                label -> Arrays.stream(coefficients, label * n, (label + 1) * n).sum());
        return new LinearModel(weight, Offsets.around(centred.centres(), weight, bias), found);
    }
}
