package org.gramian.research;

import org.gramian.autodiff.Tape;
import org.gramian.autodiff.network.Interpolation;
import org.gramian.autodiff.network.Interpolation.Bicubic;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * From crops in RGB bytes to the input of one network: resampling, order of channels, {@code (x − mean)/std}, and the type. All of
 * it runs on the device of the crops and can be captured in a CUDA graph.
 */
final class NetworkInput implements AutoCloseable {
    /** Crops as bytes from 0 to 255, from which the input of every network follows. */
    static final Preprocessing BYTES = Preprocessing.parse("RGB mean=0,0,0 std=1,1,1");

    private final int size;
    private final DType type;
    private final Tensor channels;
    private final Tensor factor;
    private final Tensor offset;
    private final boolean reversed;

    NetworkInput(int size, Preprocessing preprocessing, DType type, Device device) {
        this.size = size;
        this.type = type;
        this.reversed = preprocessing.order() == Preprocessing.Order.BGR;
        double[] factors = new double[3];
        double[] offsets = new double[3];
        for (int c = 0; c < 3; c++) {
            factors[c] = 1 / preprocessing.std().get(c);
            offsets[c] = -preprocessing.mean().get(c) / preprocessing.std().get(c);
        }
        Shape perChannel = Shape.of(1, 3, 1, 1);
        try (Scope scope = Scope.open()) {
            channels = Tensors.ofLongs(new long[] {2, 1, 0}, Shape.of(3)).to(device);
            factor = Tensors.of(factors, perChannel, DType.F32).to(device);
            offset = Tensors.of(offsets, perChannel, DType.F32).to(device);
            scope.release(channels);
            scope.release(factor);
            scope.release(offset);
        }
    }

    /**
     * Returns the input of the network, in the current scope.
     *
     * @param crops RGB bytes {@code [n, 3, side, side]} as float32
     */
    Tensor of(Tensor crops) {
        try (Scope scope = Scope.open();
                Tape tape = Tape.inference()) {
            Tensor resized = Interpolation.resize(tape.constant(crops), size, size, new Bicubic(true, 0))
                    .value();
            Tensor ordered = reversed ? resized.select(1, channels) : resized;
            Tensor normalized = ordered.mul(factor).add(offset);
            return scope.keep(normalized.to(type));
        }
    }

    @Override
    public void close() {
        channels.close();
        factor.close();
        offset.close();
    }
}
