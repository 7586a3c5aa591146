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
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.Head;
import org.gramian.model.Model;
import org.gramian.pooling.Pooling;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensors;
import org.gramian.train.loop.Dropout;
import org.gramian.train.loop.StepPart;

/**
 * Input of a training step for executors: architecture and current parameters of the head, and the crops of the step.
 *
 * @param backbone name
 * @param layer of the backbone
 * @param network definition of a backbone that is not built in; empty for a built-in one
 * @param pooling as in model files
 * @param classes number of classes
 * @param values of the parameters by name, row-major
 * @param places of all crops of the step
 * @param dropout of the descriptors
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record StepInput(
        String backbone,
        String layer,
        String network,
        String pooling,
        int classes,
        SequencedMap<String, float[]> values,
        int[] places,
        Dropout dropout)
        implements Serializable {
    /** Copies the current parameters of a model. */
    static StepInput of(Model model, int[] places, Dropout dropout) {
        SequencedMap<String, float[]> values = new LinkedHashMap<>();
        model.headParameters()
                .all()
                .forEach(parameter ->
                        values.put(parameter.name(), parameter.value().toFloats()));
        return new StepInput(
                model.backbone().name(),
                model.backbone().layer(),
                model.backbone().definition().orElse(""),
                model.head().pooling().text(),
                model.head().classes(),
                values,
                places,
                dropout);
    }

    /** Returns what all contributions of the step share. */
    StepPart.Step step() {
        return new StepPart.Step(places.length, dropout);
    }

    /** Returns the head as a model whose backbone has no parameters; the caller closes it. */
    Model model(Device device) {
        Backbone whole = network.isEmpty()
                ? Backbone.of(backbone)
                : Backbone.of(backbone, network, Preprocessing.TORCHVISION); // unused: crops are preprocessed
        Backbone cut = whole.cutAt(layer);
        Head head = new Head(Pooling.parse(pooling).resolve(cut, Integer.MAX_VALUE), classes, false);
        List<ParameterSpec> specs = head.parameters(cut.channels()).stream()
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
                cut,
                ParameterSet.initialize(List.of(), unused, DType.F32, device),
                head,
                ParameterSet.initialize(specs, unused, DType.F32, device),
                device);
    }
}
