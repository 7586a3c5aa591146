package org.gramian.backbone;

import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Window;

/**
 * Maximum pooling over windows, or global average pooling.
 *
 * @param name name of the layer
 * @param kind maximum or mean
 * @param window sliding window; unused for the global mean
 */
public record Pool(String name, Kind kind, Window window) implements NetworkLayer {
    /** Kind of pooling. */
    public enum Kind {
        MAX,
        GLOBAL_AVERAGE
    }

    /** Returns maximum pooling without padding. */
    static Pool max(String name, int size, int stride) {
        return new Pool(name, Kind.MAX, Window.of(size, stride));
    }

    /** Returns global average pooling. */
    static Pool globalAverage(String name) {
        return new Pool(name, Kind.GLOBAL_AVERAGE, Window.of(1, 1));
    }

    /** Returns this pooling with padding on every side. */
    Pool padded(int border) {
        return new Pool(name, kind, window.padded(border, border));
    }

    /** Returns this pooling with incomplete windows at the end included, as in Caffe. */
    Pool roundedUp() {
        return new Pool(name, kind, window.roundedUp());
    }

    @Override
    public long channels(long entering) {
        return entering;
    }

    @Override
    public Shape output(Shape maps) {
        return switch (kind) {
            case MAX -> window.outputs(maps);
            case GLOBAL_AVERAGE -> Shape.of(maps.at(0), 1, 1);
        };
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        return switch (kind) {
            case MAX -> FeatureMaps.maxPool(maps, window);
            case GLOBAL_AVERAGE -> FeatureMaps.globalAveragePool(maps);
        };
    }
}
