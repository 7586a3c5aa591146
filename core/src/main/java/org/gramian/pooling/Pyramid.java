package org.gramian.pooling;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.basis.EnumWords;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Spatial pyramid pooling: the mean or maximum of each channel over the cells of grids of 1×1, 2×2, 4×4, …
 *
 * <p>Of k×k cells over h×w positions, the cell in row r and column q spans rows {@code floor(r·h/k)} to {@code
 * ceil((r+1)·h/k)} (exclusive) and columns likewise. The descriptor lists all channels of the first cell, then of the
 * second, in row-major order and level by level: {@code d = C·(4^levels − 1)/3}. The gradient of a maximum goes to its
 * first position in row-major order.
 *
 * <p>References: Lazebnik, Schmid, Ponce, "Beyond Bags of Features: Spatial Pyramid Matching for Recognizing Natural
 * Scene Categories", CVPR 2006; He, Zhang, Ren, Sun, "Spatial Pyramid Pooling in Deep Convolutional Networks for Visual
 * Recognition", ECCV 2014.
 *
 * @param levels number of grids; the last has {@code 2^(levels−1)} cells along each side
 * @param statistic statistic of a cell
 * @since 0.1
 */
public record Pyramid(int levels, Statistic statistic) implements Aggregation {
    /** 1,024 cells along a side, more than any layer has positions. */
    private static final int MAX_LEVELS = 11;

    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "pyramid",
            "pyramid:<levels>[,of=mean|max]",
            "each feature map over 1x1, 2x2, 4x4, ... cells",
            a -> new Pyramid(
                    a.count("levels"),
                    EnumWords.parse(Statistic.class, "the statistic of a cell", a.text("of", "mean"))));

    /** Statistic of a cell. */
    public enum Statistic {
        MEAN,
        MAX
    }

    /** Rows {@code top} to {@code bottom} (exclusive) and columns {@code left} to {@code right} (exclusive). */
    public record Cell(int top, int bottom, int left, int right) {
        /** Returns the number of positions. */
        public int size() {
            return (bottom - top) * (right - left);
        }

        /** Returns a view of the cell in maps {@code [n, c, h, w]}. */
        Tensor of(Tensor maps) {
            return maps.slice(2, top, bottom).slice(3, left, right);
        }

        Window window() {
            Window.Pair whole = new Window.Pair(bottom - top, right - left);
            return new Window(whole, whole, new Window.Pair(0, 0), false);
        }
    }

    public Pyramid {
        if (levels < 1 || levels > MAX_LEVELS) {
            throw new IllegalArgumentException("pyramid: expected 1 to " + MAX_LEVELS + " levels, found " + levels);
        }
    }

    @Override
    public String text() {
        return "pyramid:" + levels + (statistic == Statistic.MEAN ? "" : ",of=" + EnumWords.text(statistic));
    }

    @Override
    public long outputs(long channels) {
        return channels * ((1L << (2 * levels)) - 1) / 3;
    }

    @Override
    public boolean isSpatial() {
        return true;
    }

    @Override
    public int leastSide() {
        return 1 << (levels - 1);
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        List<Cell> cells = cells(maps.shape());
        Var found = statistic == Statistic.MEAN ? means(maps, cells) : maxima(maps, cells);
        return found.reshape(maps.shape().at(0), outputs(maps.shape().at(1)));
    }

    /** Returns the cells for maps {@code [n, c, h, w]}, in the order of the descriptor. */
    public List<Cell> cells(Shape maps) {
        int height = Math.toIntExact(maps.at(2));
        int width = Math.toIntExact(maps.at(3));
        requireFits(Shape.of(maps.at(1), height, width));
        List<Cell> cells = new ArrayList<>();
        for (int k = 1; k <= leastSide(); k *= 2) {
            for (int i = 0; i < k * k; i++) {
                int row = i / k;
                int column = i % k;
                cells.add(new Cell(
                        row * height / k,
                        Math.ceilDiv((row + 1) * height, k),
                        column * width / k,
                        Math.ceilDiv((column + 1) * width, k)));
            }
        }
        return cells;
    }

    /** Computes all means {@code [n, cells, c]} as one product {@code A·Mᵀ}; row i of A averages cell i. */
    private static Var means(Var maps, List<Cell> cells) {
        Shape shape = maps.shape();
        Var positions = maps.reshape(shape.at(0), shape.at(1), shape.at(2) * shape.at(3))
                .transpose(1, 2);
        return maps.tape().apply(List.of(positions), () -> {
            double[] weights = averaging(cells, shape);
            Tensor x = maps.value();
            Tensor a = Tensors.of(weights, Shape.of(cells.size(), weights.length / cells.size()), x.type())
                    .to(x.device());
            return Result.of(
                    a.matmul(positions.value()),
                    (g, wanted) -> list(a.transpose().matmul(g)),
                    a);
        });
    }

    /** Returns the averaging matrix {@code A [cells, h·w]} for maps {@code [n, c, h, w]}. */
    public static double[] averaging(List<Cell> cells, Shape maps) {
        int width = Math.toIntExact(maps.at(3));
        int positions = Math.toIntExact(maps.at(2)) * width;
        double[] weights = new double[cells.size() * positions];
        for (int i = 0; i < cells.size(); i++) {
            Cell cell = cells.get(i);
            for (int y = cell.top(); y < cell.bottom(); y++) {
                for (int x = cell.left(); x < cell.right(); x++) {
                    weights[i * positions + y * width + x] = 1.0 / cell.size();
                }
            }
        }
        return weights;
    }

    /** Computes all maxima {@code [n, cells, c]}. */
    private static Var maxima(Var maps, List<Cell> cells) {
        Tensor x = maps.value();
        return maps.tape().apply(List.of(maps), () -> {
            List<Tensor> values = new ArrayList<>();
            List<Tensor> places = new ArrayList<>();
            for (Cell cell : cells) {
                Window.Maxima maxima = cell.window().max(cell.of(x).contiguous());
                values.add(maxima.values().reshape(x.size(0), 1, x.size(1)));
                places.add(maxima.places());
            }
            return new Result(Tensors.concat(values, 1), places, (g, wanted) -> {
                Tensor gradient = Tensors.zeros(x.shape(), x.type(), x.device());
                for (int i = 0; i < cells.size(); i++) {
                    Tensor part = cells.get(i).of(gradient);
                    Tensor upstream = g.slice(1, i, i + 1L).reshape(x.size(0), x.size(1), 1, 1);
                    Tensor more = cells.get(i)
                            .window()
                            .maxBackward(upstream, cells.get(i).of(x).contiguous(), places.get(i));
                    part.copyFrom(part.add(more)); // cells overlap
                }
                return list(gradient);
            });
        });
    }
}
