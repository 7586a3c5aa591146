package org.gramian.backbone.network;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Var;
import org.gramian.backbone.onnx.Layout.Kind;
import org.gramian.backbone.onnx.Segment;
import org.gramian.tensor.Shape;

/** Part of a network that was read from an ONNX file. */
public record OnnxStage(String name, Segment segment) implements NetworkLayer {
    @Override
    public long channels(long entering) {
        return segment.ends().channels();
    }

    @Override
    public List<ParameterSpec> parameters(long entering) {
        return segment.parameters();
    }

    @Override
    public Shape output(Shape maps) {
        return segment.output(maps);
    }

    @Override
    public Var apply(Var state, Bindings parameters) {
        return segment.apply(state, parameters);
    }

    @Override
    public Var features(Var state, Shape maps) {
        return segment.features(state, maps);
    }

    @Override
    public boolean passesMaps() {
        return segment.ends().leaving().kind() != Kind.TOKENS;
    }
}
