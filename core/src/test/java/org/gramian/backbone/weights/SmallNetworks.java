package org.gramian.backbone.weights;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.tensor.Shape;

/** Networks with all their names and a thirty-second of their width, so that whole files of them are small. */
final class SmallNetworks {
    private static final int SCALE = 32;
    private static final int COLOURS = 3;

    private SmallNetworks() {}

    static ExpectedParameters of(String architecture) {
        ExpectedParameters full = ExpectedParameters.of(architecture);
        SequencedMap<String, Shape> parameters = new LinkedHashMap<>();
        for (Map.Entry<String, Shape> parameter : full.parameters().entrySet()) {
            Shape shape = parameter.getValue();
            Shape small = shape.with(0, Math.max(1, shape.at(0) / SCALE));
            boolean scaled = shape.rank() > 1 && shape.at(1) != COLOURS;
            parameters.put(parameter.getKey(), scaled ? small.with(1, Math.max(1, shape.at(1) / SCALE)) : small);
        }
        return new ExpectedParameters(
                architecture, parameters, full.classifier(), full.defaultPreprocessing(), Optional.empty());
    }
}
