package org.gramian.image.augment;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.LibtorchException;

/**
 * Decoded images in the memory of a GPU, with the parameters of the current epoch: batches of augmented crops need no work of the
 * host but two kernel launches, and can be part of a CUDA graph. The function is that of {@link CropRenderer}.
 */
public final class ResidentImages implements AutoCloseable {
    private static final int THREADS = 256;

    /** Training needs memory, too: images take a quarter of what is free at most. */
    private static final int PART_OF_FREE_MEMORY = 4;

    private static final class Program {
        static final CudaProgram AUGMENT = CudaProgram.of(ResidentImages.class, "augment.cu", Map.of());
    }

    private final CropRenderer renderer;
    private final Tensor images;
    private final Tensor offsets;
    private final Tensor sizes;
    private final Tensor table;

    private ResidentImages(CropRenderer renderer, List<Tensor> tensors) {
        this.renderer = renderer;
        this.images = tensors.get(0);
        this.offsets = tensors.get(1);
        this.sizes = tensors.get(2);
        this.table = tensors.get(3);
    }

    /** Copies all images of a store to a GPU; nothing where they do not fit, or where kernels cannot be compiled. */
    public static Optional<ResidentImages> of(ImageStore store, CropRenderer renderer, Device device) {
        if (device.kind() != Device.Kind.CUDA || !fits(store)) {
            return Optional.empty();
        }
        try (Scope scope = Scope.open()) {
            Tensor table = Tensors.zeros(Shape.of(store.count(), CropParameters.COUNT), DType.F32, device);
            if (!CudaProgram.isSupported(table)) {
                return Optional.empty();
            }
            Tensor images = Tensors.empty(Shape.of(store.bytes()), DType.U8, device);
            long start = 0;
            for (MemorySegment piece : store.pieces()) {
                images.slice(0, start, start + piece.byteSize())
                        .copyFrom(Tensors.viewOf(piece, DType.U8, Shape.of(piece.byteSize())));
                start += piece.byteSize();
            }
            Tensor offsets =
                    Tensors.ofLongs(store.offsets(), Shape.of(store.count())).to(device);
            long[] sides = new long[2 * store.count()];
            for (int i = 0; i < store.count(); i++) {
                sides[2 * i] = store.width(i);
                sides[2 * i + 1] = store.height(i);
            }
            Tensor sizes = Tensors.ofLongs(sides, Shape.of(store.count(), 2))
                    .to(DType.I32)
                    .to(device);
            List<Tensor> tensors = List.of(images, offsets, sizes, table);
            tensors.forEach(scope::release);
            return Optional.of(new ResidentImages(renderer, tensors));
        } catch (LibtorchException failed) {
            if (fits(store)) {
                throw failed; // not for lack of memory
            }
            return Optional.empty(); // another process took it meanwhile
        }
    }

    private static boolean fits(ImageStore store) {
        Optional<Long> free = Libtorch.load().cudaMemoryFree();
        return free.isPresent() && store.bytes() <= free.get() / PART_OF_FREE_MEMORY;
    }

    public void set(List<CropParameters> epoch) {
        int count = Math.toIntExact(table.size(0));

        float[] rows = new float[Math.multiplyExact(count, CropParameters.COUNT)];
        for (int i = 0; i < count; i++) {
            epoch.get(i).write(rows, i * CropParameters.COUNT);
        }
        try (Scope _ = Scope.open()) {
            table.copyFrom(Tensors.copyOf(MemorySegment.ofArray(rows), DType.F32, table.shape()));
        }
    }

    /**
     * Renders crops {@code [n, 3, size, size]} of the current epoch; they belong to the current scope.
     *
     * @param places indices of the images, I64 {@code [n]} on the GPU
     */
    public Tensor render(Tensor places) {
        int size = renderer.size();
        int rows = Math.toIntExact(places.size(0));
        LaunchConfig grid = new LaunchConfig(Math.ceilDiv(size * size, THREADS), rows, 1, THREADS, 1);
        try (Scope scope = Scope.open()) {
            Tensor crops = Tensors.empty(Shape.of(rows, size, size, 3), table);
            Tensor sums = Tensors.empty(Shape.of(rows, grid.x()), table);
            Tensor result = Tensors.empty(Shape.of(rows, 3, size, size), table);
            Program.AUGMENT.launch("interpolate", grid, images, offsets, sizes, table, places, crops, sums, size);
            Preprocessing preprocessing = renderer.preprocessing();
            boolean bgr = preprocessing.order() == Preprocessing.Order.BGR;
            Program.AUGMENT.launch(
                    "finish",
                    grid,
                    crops,
                    sums,
                    table,
                    places,
                    result,
                    size,
                    bgr ? 2 : 0,
                    bgr ? -1 : 1,
                    preprocessing.mean().get(0).floatValue(),
                    preprocessing.mean().get(1).floatValue(),
                    preprocessing.mean().get(2).floatValue(),
                    (float) (1 / preprocessing.std().get(0)),
                    (float) (1 / preprocessing.std().get(1)),
                    (float) (1 / preprocessing.std().get(2)));
            return scope.keep(result);
        }
    }

    @Override
    public void close() {
        List.of(images, offsets, sizes, table).forEach(Tensor::close);
    }
}
