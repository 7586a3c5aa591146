package org.gramian.backbone;

import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Window;

/**
 * Pooling of each map: the largest value of each window, or the mean of the whole map.
 *
 * @param name of the stage
 * @param kind what is taken
 * @param window how the window slides; the mean of a whole map has none of its own
 */
public record Pool(String name, Kind kind, Window window) implements NetworkLayer {
    /** What is taken of a window. */
    public enum Kind {
        MAX,
        GLOBAL_AVERAGE
    }

    /** Maximum pooling with windows inside the maps. */
    static Pool max(String name, int size, int stride) {
        return new Pool(name, Kind.MAX, Window.of(size, stride));
    }

    /** The mean of each map. */
    static Pool globalAverage(String name) {
        return new Pool(name, Kind.GLOBAL_AVERAGE, Window.of(1, 1));
    }

    /** The same with that many rows and columns on every side. */
    Pool padded(int border) {
        return new Pool(name, kind, window.padded(border, border));
    }

    /** The same with incomplete windows at the far border included, as Caffe does. */
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
