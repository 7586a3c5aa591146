package org.gramian.backbone;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;

/**
 * One step of a network, from feature maps {@code [n, c, h, w]} to feature maps; networks are lists of them.
 *
 * <p>All kinds are known, so that what is to run in another system can be written kind by kind, by a switch that does not
 * compile while one is missing.
 */
public sealed interface Stage permits Conv, Pool, ResponseNormalization, Dense, Chain, Branches, Residual, FilterBank {
    /** The name under which a network can be cut after this stage. */
    String name();

    /** Number of maps that leave, for the number that enter. */
    long channels(long entering);

    /** The parameters, under their full names, for the number of maps that enter. */
    default List<ParameterSpec> parameters(long entering) {
        return List.of();
    }

    /** The shape {@code [c', h', w']} that leaves for {@code [c, h, w]}; a side is 0 where maps do not fit. */
    Shape output(Shape maps);

    /** The maps themselves; the bindings hold the parameters under their full names. */
    Var apply(Var maps, Bindings parameters);
}
