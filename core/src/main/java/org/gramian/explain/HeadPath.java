package org.gramian.explain;

import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Var;
import org.gramian.model.Head;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;

/**
 * A head in two parts, which meet where something can be said of feature maps: at the kernel matrix {@code K [n, C, C]} of
 * second-order poolings, else at the maps {@code [n, C, N]} that are aggregated.
 *
 * @param head the whole
 */
record HeadPath(Head head) {
    /** With the true gradient throughout. */
    static HeadPath of(Head head) {
        return new HeadPath(new Head(TrueGradient.of(head.pooling()), head.classes(), head.normalized()));
    }

    private Pooling pooling() {
        return head.pooling();
    }

    /** The maps that are aggregated, of features {@code [n, c, h, w]}. */
    Var maps(Var features, Bindings parameters) {
        return pooling().reduce(features, parameters.under("pooling"));
    }

    /** Where the parts meet, of these maps. */
    Var meeting(Var maps, Bindings parameters) {
        return pooling().aggregation() instanceof SecondOrder secondOrder
                ? secondOrder.matrices(maps, parameters.under("pooling"))
                : maps;
    }

    /** Scores {@code [n, k]} of what the first part gave. */
    Var scores(Var meeting, Bindings parameters) {
        Bindings own = parameters.under("pooling");
        Var x = pooling().aggregation() instanceof SecondOrder secondOrder
                ? secondOrder.vectorize(secondOrder.transform(meeting, own), own)
                : pooling().aggregate(meeting, own);
        for (int i = 0; i < pooling().normalizations().size(); i++) {
            x = pooling().normalize(i, x, own);
        }
        return head.classify(x, parameters, Head.Mode.PREDICTING);
    }
}
