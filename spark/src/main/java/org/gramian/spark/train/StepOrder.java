package org.gramian.spark.train;

import java.io.Serializable;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensors;
import org.gramian.train.loop.Dropout;
import org.gramian.train.loop.StepPart;

/**
 * What every executor is told of a step: the head with its parameters as they are now, and which crops are wanted.
 *
 * @param head what it computes
 * @param values of the head's parameters by name, row by row
 * @param places of all crops of the step
 * @param dropout of their descriptors
 */
@SuppressWarnings("ArrayRecordComponent") // handed on and never compared
record StepOrder(HeadText head, SequencedMap<String, float[]> values, int[] places, Dropout dropout)
        implements Serializable {
    /** A head in words, as model files have it. */
    record HeadText(String backbone, String layer, String pooling, int classes) implements Serializable {
        static HeadText of(Model model) {
            return new HeadText(
                    model.backbone().name(),
                    model.backbone().layer(),
                    model.head().pooling().text(),
                    model.head().classes());
        }
    }

    /** An order by the parameters of a model as they are now. */
    static StepOrder of(Model model, int[] places, Dropout dropout) {
        SequencedMap<String, float[]> values = new LinkedHashMap<>();
        model.headParameters()
                .all()
                .forEach(parameter ->
                        values.put(parameter.name(), parameter.value().toFloats()));
        return new StepOrder(HeadText.of(model), values, places, dropout);
    }

    /** What all parts of the step share. */
    StepPart.Step step() {
        return new StepPart.Step(places.length, dropout);
    }

    /** The head as a model whose backbone has no weights, for nobody asks for them; close it. */
    Model model(Device device) {
        Backbone backbone = Backbone.of(head.backbone, head.layer);
        Head layers = new Head(Pooling.parse(head.pooling), head.classes, false);
        List<ParameterSpec> specs = layers.parameters(backbone.channels()).stream()
                .map(spec -> new ParameterSpec(
                        spec.name(),
                        spec.shape(),
                        spec.role(),
                        (_, shape, _) -> Tensors.copyOf(
                                MemorySegment.ofArray(Objects.requireNonNull(values.get(spec.name()), spec.name())),
                                DType.F32,
                                shape)))
                .toList();
        SplittableRandom nobody = new SplittableRandom(0);
        return new Model(
                backbone,
                ParameterSet.initialize(List.of(), nobody, DType.F32, device),
                layers,
                ParameterSet.initialize(specs, nobody, DType.F32, device),
                device);
    }
}
