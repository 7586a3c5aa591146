package org.gramian.pooling;

import static org.gramian.autodiff.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Matrices;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;

/**
 * The sum of each map with positions and channels weighted by what the maps show: cross-dimensional weighting (CroW).
 *
 * <pre>{@code
 * v_i = b_i Σ_p s(p) f_i(p)
 * s   = sqrt(S / ‖S‖),                 S(p) = Σ_k max(f_k(p), 0)
 * b_i = log((C·e + Σ_k Q_k) / (e + Q_i)), Q_i the share of positions at which f_i is positive, e = 1e-6
 * }</pre>
 *
 * <p>So a position counts more where more responds, and a channel more if it seldom responds. The authors' features
 * follow a ReLU; of features that may be negative, what is negative counts in neither weight, but in the sum.
 *
 * <p>On the way back b is a constant: it counts, and a small change of the features changes no count. The gradient goes
 * through s; where S is 0, s has none.
 *
 * <p>Kalantidis, Mellina, Osindero: Cross-dimensional Weighting for Aggregated Deep Convolutional Features, ECCV 2016
 * workshops; their exponents a = b = 2.
 */
public record Weighted() implements Aggregation {
    /** e, so that a channel that never responds has a finite weight. */
    public static final double MARGIN = 1e-6;

    private static final Normalization LENGTH = new Normalization.L2();
    private static final Normalization ROOT = new Normalization.Root(0);

    /** Not {@code crow}, which is the name of the method that normalizes, too. */
    static final Words.Rule RULE = new Words.Rule(
            "weighted", "weighted", "sum of each map, positions and channels weighted (CroW)", a -> new Weighted());

    @Override
    public String text() {
        return "weighted";
    }

    @Override
    public long outputs(long channels) {
        return channels;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        long images = maps.shape().at(0);
        long positions = maps.shape().at(2);
        Var responses = Shapes.reshape(Arithmetic.sum(Arithmetic.relu(maps), 1), images, positions);
        Var s = ROOT.apply(LENGTH.apply(responses, parameters), parameters);
        Var sums = Matrices.matmul(maps, Shapes.reshape(s, images, positions, 1));
        Var weighted = maps.tape().apply(List.of(sums), () -> {
            Tensor b = channelWeights(maps.value());
            return Result.of(Elementwise.mul(sums.value(), b), (g, wanted) -> list(Elementwise.mul(g, b)), b);
        });
        return Shapes.reshape(weighted, images, maps.shape().at(1));
    }

    /** {@code b [n, c, 1]} of maps {@code [n, c, N]}. */
    private static Tensor channelWeights(Tensor maps) {
        Tensor positive = Elementwise.sign(Elementwise.relu(maps));
        Tensor share = Elementwise.mul(Reductions.sum(positive, 2), 1.0 / maps.size(2));
        Tensor all = Elementwise.add(Reductions.sum(share, 1), MARGIN * maps.size(1));
        return Elementwise.log(Elementwise.div(all, Elementwise.add(share, MARGIN)));
    }
}
