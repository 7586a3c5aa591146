package org.gramian.anomaly;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.FeatureMaps;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.backbone.Backbone;
import org.gramian.image.Image;
import org.gramian.image.crop.Preprocessing;
import org.gramian.image.resize.Resize;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Features at each position of whole images: the maps of some layers, averaged over 3×3, resized to the grid of one layer and joined
 * along channels.
 *
 * @param layers feature layers of the backbone, in its order
 * @param parameters weights of the backbone, on the device; closed with this
 * @param folded batch norms folded into their convolutions; closed with this
 */
record Features(
        Backbone backbone,
        List<String> layers,
        ParameterSet parameters,
        ParameterSet folded,
        Preprocessing preprocessing,
        Size size,
        Device device)
        implements AutoCloseable {
    /** Distances of two positions, in pixels, of the layers that are joined; the grid is that of the second. */
    private static final List<Integer> STRIDES = List.of(8, 16, 32);

    private static final int GRID_STRIDE = 16;

    private static final Window AVERAGE = Window.of(3, 1).padded(1, 1);

    /** Width and height to which images are resized. */
    record Size(int width, int height) {
        private static final int MULTIPLE = 32;

        /**
         * Returns the size for images of an aspect ratio: about {@code side²} pixels, sides multiples of 32.
         *
         * @param width median width of the images
         * @param height median height of the images
         */
        static Size of(int side, double width, double height) {
            double root = Math.sqrt(width / height);
            return new Size(rounded(side * root), rounded(side / root));
        }

        private static int rounded(double length) {
            return MULTIPLE * Math.max(2, (int) Math.round(length / MULTIPLE));
        }

        @Override
        public String toString() {
            return width + "x" + height;
        }
    }

    /** Returns the last layers of stride 8, 16 and 32, as far as the backbone has them; else its feature layer. */
    static List<String> layers(Backbone backbone) {
        int side = 256;
        List<String> found = new ArrayList<>();
        List<String> upTo = backbone.cutAt(backbone.defaultLayer()).layersUsed();
        for (int stride : STRIDES) {
            upTo.stream()
                    .filter(layer -> backbone.cutAt(layer).features(side, side).at(1) == side / stride)
                    .reduce((_, last) -> last)
                    .ifPresent(found::add);
        }
        return found.isEmpty() ? List.of(backbone.defaultLayer()) : found;
    }

    static Features of(
            Backbone whole,
            List<String> layers,
            ParameterSet parameters,
            Preprocessing preprocessing,
            Size size,
            Device device) {
        Backbone cut = whole.cutAt(String.join("+", layers));
        return new Features(
                Acceleration.rewrite(cut), layers, parameters, cut.folded(parameters), preprocessing, size, device);
    }

    /** Returns rows and columns of the grid. */
    Shape grid() {
        return grid(backbone, layers, size);
    }

    static Shape grid(Backbone backbone, List<String> layers, Size size) {
        List<Shape> shapes = layers.stream()
                .map(layer -> backbone.cutAt(layer).features(size.height(), size.width()))
                .toList();
        Shape shape = shapes.stream()
                .filter(each -> each.at(1) <= Math.ceilDiv(size.height(), GRID_STRIDE))
                .findFirst()
                .orElse(shapes.getLast());
        return Shape.of(shape.at(1), shape.at(2));
    }

    /** Returns an image as the backbone takes it, {@code [3, height, width]}. */
    float[] render(Image image) {
        return preprocessing.apply(Resize.to(image, size.width(), size.height()));
    }

    /**
     * Computes the features of rendered images.
     *
     * @return {@code [n, p, d]} on the device
     */
    Tensor compute(List<float[]> rendered) {
        try (Scope scope = Scope.open();
                Tape tape = Tape.inference()) {
            Shape shape = Shape.of(rendered.size(), 3, size.height(), size.width());
            Tensor images = Tensors.empty(shape, DType.F32, Device.CPU);
            for (int i = 0; i < rendered.size(); i++) {
                MemorySegment.copy(
                        rendered.get(i),
                        0,
                        images.data(),
                        ValueLayout.JAVA_FLOAT,
                        (long) i * rendered.get(i).length * Float.BYTES,
                        rendered.get(i).length);
            }
            var bound = parameters.variables(tape);
            bound.putAll(folded.variables(tape));
            Shape grid = grid();
            List<Tensor> maps = new ArrayList<>();
            backbone.apply(tape.constant(images.to(device)), Bindings.of(bound), layer -> {
                Var even = Interpolation.resize(FeatureMaps.averagePool(layer, AVERAGE), grid.at(0), grid.at(1));
                maps.add(even.value().copy());
            });
            Tensor joined = maps.size() == 1 ? maps.getFirst() : Tensors.concat(maps, 1);
            long n = joined.size(0);
            long d = joined.size(1);
            return scope.keep(
                    joined.reshape(n, d, grid.elements()).permute(0, 2, 1).contiguous());
        }
    }

    @Override
    public void close() {
        parameters.close();
        folded.close();
    }
}
