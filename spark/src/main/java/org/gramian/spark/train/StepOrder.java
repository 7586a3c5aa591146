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
 * Input of a training step for executors: the head with its current parameters, and the crops of the step.
 *
 * @param head architecture
 * @param values of the parameters by name, row-major
 * @param places of all crops of the step
 * @param dropout of the descriptors
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record StepOrder(HeadText head, SequencedMap<String, float[]> values, int[] places, Dropout dropout)
        implements Serializable {
    /** Architecture of a head, as in model files. */
    record HeadText(String backbone, String layer, String pooling, int classes) implements Serializable {
        static HeadText of(Model model) {
            return new HeadText(
                    model.backbone().name(),
                    model.backbone().layer(),
                    model.head().pooling().text(),
                    model.head().classes());
        }
    }

    /** Copies the current parameters of a model. */
    static StepOrder of(Model model, int[] places, Dropout dropout) {
        SequencedMap<String, float[]> values = new LinkedHashMap<>();
        model.headParameters()
                .all()
                .forEach(parameter ->
                        values.put(parameter.name(), parameter.value().toFloats()));
        return new StepOrder(HeadText.of(model), values, places, dropout);
    }

    /** Returns what all contributions of the step share. */
    StepPart.Step step() {
        return new StepPart.Step(places.length, dropout);
    }

    /** Returns the head as a model whose backbone has no parameters; the caller closes it. */
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
        SplittableRandom unused = new SplittableRandom(0);
        return new Model(
                backbone,
                ParameterSet.initialize(List.of(), unused, DType.F32, device),
                layers,
                ParameterSet.initialize(specs, unused, DType.F32, device),
                device);
    }
}
