package org.gramian.pooling;

import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;

/** Average pooling, {@code v_i = Σ_p f_i(p) / N}: the first-order baseline. */
public record Average() implements Aggregation {
    @Override
    public String text() {
        return "average";
    }

    @Override
    public long outputs(long channels) {
        return channels;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        Var sums = Arithmetic.sum(maps, 2);
        return Shapes.reshape(
                Arithmetic.scale(sums, 1.0 / maps.shape().at(2)),
                maps.shape().at(0),
                maps.shape().at(1));
    }
}
