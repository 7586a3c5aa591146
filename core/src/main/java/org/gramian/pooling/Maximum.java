package org.gramian.pooling;

import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Window;
import org.gramian.tensor.Window.Pair;

/**
 * Maximum pooling, {@code v_i = max_p f_i(p)}: maximum activations of convolutions (MAC).
 *
 * <p>The gradient of v_i goes to the position of the maximum; of equal ones to the first in row-major order. Reference:
 * Tolias, Sicre, Jégou, "Particular Object Retrieval with Integral Max-pooling of CNN Activations", ICLR 2016.
 */
public record Maximum() implements Aggregation {
    static final Words.Rule RULE =
            new Words.Rule("max", "max", "largest value of each map, first order", a -> new Maximum());

    @Override
    public String text() {
        return "max";
    }

    @Override
    public long outputs(long channels) {
        return channels;
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        long images = maps.shape().at(0);
        long channels = maps.shape().at(1);
        long positions = maps.shape().at(2);
        Pair whole = new Pair(1, Math.toIntExact(positions));
        Var rows = Shapes.reshape(maps, images, channels, 1, positions);
        Var largest = FeatureMaps.maxPool(rows, new Window(whole, whole, new Pair(0, 0), false));
        return Shapes.reshape(largest, images, channels);
    }
}
