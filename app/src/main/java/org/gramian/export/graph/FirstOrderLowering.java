package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.ParameterSet;
import org.gramian.pooling.Cross;
import org.gramian.pooling.FirstOrder.GeneralizedMean;
import org.gramian.pooling.FirstOrder.Sum;
import org.gramian.pooling.FirstOrder.Weighted;
import org.gramian.pooling.Pyramid;
import org.gramian.tensor.Shape;

/**
 * Aggregations without vocabulary or matrix as operators: maps {@code [n, C, N]}, or {@code [n, C, h, w]} where it matters
 * where a position lies, to {@code [n, d]}.
 *
 * @param algebra to whose graph nodes are added
 */
record FirstOrderLowering(Algebra algebra) {
    Value average(Value maps) {
        return algebra.reshape(algebra.sumOver(maps, maps.at(2), 2), maps.at(1));
    }

    Value maximum(Value maps) {
        return algebra.reshape(largest(maps), maps.at(1));
    }

    /** {@code [n, C, 1]}. */
    private Value largest(Value maps) {
        Value rows = algebra.reshape(maps, maps.at(1), 1, maps.at(2));
        return algebra.reshape(new Windows(algebra.graph()).globalMax(rows), maps.at(1), 1);
    }

    Value sum(Sum sum, Value maps) {
        return switch (sum.prior()) {
            case NONE -> algebra.reshape(algebra.sum(maps, 2), maps.at(1));
            case CENTER -> {
                double[] weights = Sum.centred(Math.toIntExact(maps.at(2)), Math.toIntExact(maps.at(3)));
                Value column = algebra.graph().constant("prior", List.of((long) weights.length, 1L), weights);
                Value flat = algebra.reshape(maps, maps.at(1), weights.length);
                yield algebra.reshape(algebra.matmul(flat, column), maps.at(1));
            }
        };
    }

    Value generalizedMean(GeneralizedMean mean, ParameterSet parameters, Value maps) {
        double p = mean.learned() ? Math.exp(parameters.get("logP").value().item()) : mean.p();
        Value y = algebra.atLeast(maps, GeneralizedMean.SMALLEST);
        Value m = largest(y);
        Value powers = algebra.exp(algebra.scale(algebra.log(algebra.div(y, m)), p));
        Value s = algebra.sumOver(powers, maps.at(2), 2);
        Value root = algebra.exp(algebra.scale(algebra.log(s), 1 / p));
        return algebra.reshape(algebra.mul(m, root), maps.at(1));
    }

    Value pyramid(Pyramid pyramid, Value maps) {
        Shape shape = Shape.of(1, maps.at(1), maps.at(2), maps.at(3));
        List<Pyramid.Cell> cells = pyramid.cells(shape);
        long channels = maps.at(1);
        return switch (pyramid.statistic()) {
            case MEAN -> {
                long positions = maps.at(2) * maps.at(3);
                Value averaging = algebra.graph()
                        .constant(
                                "averaging", List.of((long) cells.size(), positions), Pyramid.averaging(cells, shape));
                Value rows = algebra.transpose(algebra.reshape(maps, channels, positions));
                yield algebra.reshape(algebra.matmul(averaging, rows), cells.size() * channels);
            }
            case MAX -> {
                List<Value> maxima = new ArrayList<>();
                for (Pyramid.Cell cell : cells) {
                    long[] starts = {cell.top(), cell.left()};
                    Value part =
                            algebra.slice(maps, new int[] {2, 3}, starts, new long[] {cell.bottom(), cell.right()});
                    maxima.add(algebra.reshape(new Windows(algebra.graph()).globalMax(part), channels));
                }
                yield algebra.concat(maxima, 1);
            }
        };
    }

    Value weighted(Value maps) {
        VectorLowering vectors = new VectorLowering(algebra);
        Value positive = algebra.relu(maps);
        Value responses = algebra.reshape(algebra.sum(positive, 1), maps.at(2));
        Value s = vectors.root(vectors.unit(responses), 0);
        Value sums = algebra.matmul(maps, algebra.reshape(s, maps.at(2), 1));
        Value share = algebra.sumOver(algebra.sign(positive), maps.at(2), 2);
        Value all = algebra.shift(algebra.sum(share, 1), Weighted.MARGIN * maps.at(1));
        Value b = algebra.log(algebra.div(all, algebra.shift(share, Weighted.MARGIN)));
        return algebra.reshape(algebra.mul(sums, b), maps.at(1));
    }

    Value cross(Cross cross, Value maps) {
        long first = cross.first().orElseThrow();
        int[] channels = {1};
        Value a = algebra.slice(maps, channels, new long[] {0}, new long[] {first});
        Value b = algebra.slice(maps, channels, new long[] {first}, new long[] {maps.at(1)});
        Value products = algebra.matmul(a, algebra.transpose(b));
        return algebra.reshape(algebra.scale(products, 1.0 / maps.at(2)), products.each());
    }
}
