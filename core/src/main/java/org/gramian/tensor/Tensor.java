package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.NativeErrors;
import org.jspecify.annotations.Nullable;

/**
 * Multi-dimensional array in native memory, with an element type, a shape and a device.
 *
 * <p>Element-wise operators of two tensors broadcast: sizes, aligned at the last dimension, must be equal or 1, and both
 * types must be equal. In formulas this tensor is {@code x} or {@code a}. Operators whose names end in {@code InPlace}
 * change this tensor and return it; views share its elements.
 *
 * <p>A tensor is freed by {@link #close()} or by the {@link Scope} that owns it; using it afterwards throws {@link
 * IllegalStateException}. A tensor is not thread-safe.
 *
 * @since 0.1
 */
public final class Tensor implements AutoCloseable {
    private static final class Operators {
        static final Operator EXP = Operator.of("exp");
        static final Operator LOG = Operator.of("log");
        static final Operator SQRT = Operator.of("sqrt");
        static final Operator ABS = Operator.of("abs");
        static final Operator SIGN = Operator.of("sign");
        static final Operator RELU = Operator.of("relu");
        static final Operator PRELU = Operator.of("_prelu_kernel");
        static final Operator RECIPROCAL = Operator.of("reciprocal");
        static final Operator ERF = Operator.of("erf");
        static final Operator TANH = Operator.of("tanh");
        static final Operator EXP_IN_PLACE = Operator.of("exp_");
        static final Operator SQRT_IN_PLACE = Operator.of("sqrt_");
        static final Operator RELU_IN_PLACE = Operator.of("relu_");
        static final Operator RELU6_IN_PLACE = Operator.of("relu6_");
        static final Operator MUL = Operator.of("mul", "Tensor");
        static final Operator MUL_IN_PLACE = Operator.of("mul_", "Tensor");
        static final Operator DIV = Operator.of("div", "Tensor");
        static final Operator MAXIMUM = Operator.of("maximum");
        static final Operator MINIMUM = Operator.of("minimum");
        static final Operator EQUAL = Operator.of("eq", "Tensor");
        static final Operator GREATER = Operator.of("gt", "Tensor");
        static final Operator SOFTMAX = Operator.of("_softmax");
        static final Operator LOG_SOFTMAX = Operator.of("_log_softmax");
        static final Operator MATMUL = Operator.of("matmul");
        static final Operator MM_TYPED = Operator.of("mm", "dtype");
        static final Operator LINEAR = Operator.of("linear");
        static final Operator SUM = Operator.of("sum");
        static final Operator SUM_OF = Operator.of("sum", "dim_IntList");
        static final Operator MEAN = Operator.of("mean");
        static final Operator MAX = Operator.of("max", "dim");
        static final Operator IS_FINITE = Operator.of("isfinite");
        static final Operator ALL = Operator.of("all");
        static final Operator CONTIGUOUS = Operator.of("contiguous");
        static final Operator INDEX_SELECT = Operator.of("index_select");
        static final Operator INDEX_COPY = Operator.of("index_copy_");
        static final Operator SCATTER_ADD = Operator.of("scatter_add_");
        static final Operator CLONE = Operator.of("clone");
        static final Operator CONVERT = Operator.of("_to_copy");
        static final Operator FILL = Operator.of("fill_", "Tensor");
    }

    /** {@code c10::MemoryFormat::ChannelsLast}. */
    private static final long CHANNELS_LAST = 2;

    /** Elements that {@link #rewrite} processes at once: they stay in the cache of a core. */
    private static final long CHUNK = 1 << 19;

    private static final LongAdder LIVE = new LongAdder();

    private final DType type;
    private final Shape shape;
    private final long[] strides;
    private final Device device;
    /** Keeps foreign memory reachable while this tensor views it. */
    final @Nullable MemorySegment anchor;

    private MemorySegment handle;

    @Nullable
    Scope owner;

    Tensor(MemorySegment handle, @Nullable MemorySegment anchor) {
        this.handle = handle;
        this.anchor = anchor;
        try {
            long rank = Native.rank(handle);
            this.shape = Shape.of(Native.sizes(handle, rank));
            this.strides = Native.strides(handle, rank);
            this.type = DType.ofCode(Native.type(handle));
            this.device = Native.device(handle);
        } catch (RuntimeException unknown) {
            Native.delete(handle);
            throw unknown;
        }
        LIVE.increment();
        Scope.register(this);
    }

    Tensor(MemorySegment handle) {
        this(handle, null);
    }

    /** Returns the number of tensors in this process that are not freed yet; constant over training steps. */
    public static long live() {
        return LIVE.sum();
    }

    /** Returns the element type. */
    public DType type() {
        return type;
    }

    /** Returns the shape. */
    public Shape shape() {
        return shape;
    }

    /** Returns the device that holds the elements. */
    public Device device() {
        return device;
    }

    /**
     * Returns the size of one dimension.
     *
     * @param dimension index of the dimension; negative values count from the end
     */
    public long size(int dimension) {
        return shape.at(dimension);
    }

    /** Returns the distances between adjacent elements along each dimension, in elements. */
    public long[] strides() {
        return strides.clone();
    }

    /** Returns whether the elements are stored in row-major order without gaps. */
    public boolean isContiguous() {
        long step = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            if (shape.at(i) != 1) {
                if (strides[i] != step) {
                    return shape.elements() == 0;
                }
                step *= shape.at(i);
            }
        }
        return true;
    }

    /** Returns whether the elements are stored without gaps, in any order of dimensions. */
    public boolean isDense() {
        int[] order = IntStream.range(0, strides.length)
                .boxed()
                .filter(i -> shape.at(i) != 1)
                .sorted(Comparator.comparingLong(i -> strides[i]))
                .mapToInt(i -> i)
                .toArray();
        long step = 1;
        for (int i : order) {
            if (strides[i] != step) {
                return shape.elements() == 0;
            }
            step *= shape.at(i);
        }
        return true;
    }

    /** Returns whether feature maps {@code [n, c, h, w]} are stored without gaps and with channels last. */
    public boolean isChannelsLast() {
        return strides.length == 4 && Arrays.equals(strides, shape.channelsLastStrides());
    }

    MemorySegment handle() {
        if (handle.equals(MemorySegment.NULL)) {
            throw new IllegalStateException("this tensor " + this + " has been freed: it was used after its scope");
        }
        if (anchor != null && !anchor.scope().isAlive()) {
            throw new IllegalStateException("the memory that this tensor " + this + " views has been freed");
        }
        return handle;
    }

    /**
     * Returns the memory of a contiguous CPU tensor, for reading and writing in place.
     *
     * <p>The segment must not be used after the tensor is freed.
     *
     * @return {@code elements × bytes per element} bytes, row-major
     * @throws IllegalStateException if the tensor is not contiguous or not on the CPU
     */
    public MemorySegment data() {
        if (device.kind() != Device.Kind.CPU || !isContiguous()) {
            throw new IllegalStateException("data: expected the memory of a contiguous tensor on cpu, found " + this
                    + " with strides " + Arrays.toString(strides));
        }
        return Native.data(handle()).reinterpret(shape.elements() * type.bytes());
    }

    /** Returns the address of the first element in the memory of its device. */
    public long address() {
        return Native.data(handle()).address();
    }

    /** Returns the elements as doubles in row-major order, from any device and numeric type. */
    public double[] toDoubles() {
        return withHostCopy(DType.F64, t -> t.data().toArray(JAVA_DOUBLE));
    }

    /** Returns the elements as floats in row-major order, from any device and numeric type. */
    public float[] toFloats() {
        return withHostCopy(DType.F32, t -> t.data().toArray(JAVA_FLOAT));
    }

    /** Returns the elements as longs in row-major order, from any device; fractions are truncated. */
    public long[] toLongs() {
        return withHostCopy(DType.I64, t -> t.data().toArray(JAVA_LONG));
    }

    /** Returns the raw bytes in row-major order, in the tensor's own type. */
    public byte[] toBytes() {
        return withHostCopy(type, t -> t.data().toArray(JAVA_BYTE));
    }

    /**
     * Returns the element of a tensor with one element.
     *
     * @throws IllegalArgumentException if the tensor does not have exactly one element
     */
    public double item() {
        if (shape.elements() != 1) {
            throw new IllegalArgumentException("item: expected a tensor of one element, found " + this);
        }
        return toDoubles()[0];
    }

    private <R> R withHostCopy(DType wanted, Function<Tensor, R> reading) {
        try (Scope _ = Scope.open()) {
            return reading.apply(to(Device.CPU).to(wanted).contiguous());
        }
    }

    /**
     * Overwrites the elements with those of another tensor, converting type and device.
     *
     * @param source tensor of the same shape
     */
    public void copyFrom(Tensor source) {
        Checks.sameShape("copy", this, source);
        Native.copy(handle(), source.handle(), false);
    }

    /** Sets all elements to a value and returns this tensor. */
    public Tensor fill(double value) {
        try (Scope _ = Scope.open()) {
            return Operators.FILL.inPlace(this, Tensors.number(value, type));
        }
    }

    /** Computes {@code e^x}. */
    public Tensor exp() {
        return unary("exp", Operators.EXP);
    }

    /** Computes the natural logarithm. */
    public Tensor log() {
        return unary("log", Operators.LOG);
    }

    /** Computes {@code √x}. */
    public Tensor sqrt() {
        return unary("sqrt", Operators.SQRT);
    }

    /** Computes {@code |x|}. */
    public Tensor abs() {
        return unary("abs", Operators.ABS);
    }

    /** Computes the sign: −1, 0 or 1. */
    public Tensor sign() {
        return unary("sign", Operators.SIGN);
    }

    /** Computes {@code 1/x}. */
    public Tensor reciprocal() {
        return unary("reciprocal", Operators.RECIPROCAL);
    }

    /** Computes the error function {@code 2/√π·∫₀ˣ exp(−t²) dt}. */
    public Tensor erf() {
        return unary("erf", Operators.ERF);
    }

    /** Computes the hyperbolic tangent. */
    public Tensor tanh() {
        return unary("tanh", Operators.TANH);
    }

    private Tensor unary(String name, Operator operator) {
        Checks.floating(name, this);
        return operator.call(this);
    }

    /** Computes {@code x ← exp(x)} and returns x. */
    public Tensor expInPlace() {
        return Operators.EXP_IN_PLACE.inPlace(this);
    }

    /** Computes {@code x ← √x} and returns x. */
    public Tensor sqrtInPlace() {
        return Operators.SQRT_IN_PLACE.inPlace(this);
    }

    /** Computes {@code max(x, 0)}. On arm64 −∞ becomes NaN. */
    public Tensor relu() {
        if (!hasSlowMaxima()) {
            return unary("relu", Operators.RELU);
        }
        try (Scope scope = Scope.open()) {
            return scope.keep(Operators.PRELU.call(this, Tensors.number(0, type)));
        }
    }

    /** Computes {@code x ← max(x, 0)} and returns x. On arm64 −∞ becomes NaN. */
    public Tensor reluInPlace() {
        return hasSlowMaxima() ? rewrite(Tensor::relu) : Operators.RELU_IN_PLACE.inPlace(this);
    }

    /** Computes {@code x ← min(max(x, 0), 6)} and returns x. On arm64 infinite elements become NaN. */
    public Tensor relu6InPlace() {
        return hasSlowMaxima()
                ? rewrite(part -> part.relu().sub(part.add(-6).relu())) // exact up to 12
                : Operators.RELU6_IN_PLACE.inPlace(this);
    }

    /**
     * Returns whether maxima and selections are slow: libtorch computes them element by element on arm64, 10 times as
     * slow as other operators (1.1 against 0.1 ms for 262,144 numbers on a Neoverse N1).
     */
    private boolean hasSlowMaxima() {
        return Libtorch.ARM64 && device.kind() == Device.Kind.CPU && (type == DType.F32 || type == DType.F64);
    }

    /** Replaces this tensor by a function of its elements, chunk by chunk. */
    private Tensor rewrite(UnaryOperator<Tensor> function) {
        try (Scope _ = Scope.open()) {
            if (!isDense()) {
                copyFrom(function.apply(this));
                return this;
            }
            Tensor all = flat();
            for (long start = 0; start < all.size(0); start += CHUNK) {
                try (Scope _ = Scope.open()) {
                    Tensor part = all.slice(0, start, Math.min(all.size(0), start + CHUNK));
                    part.copyFrom(function.apply(part));
                }
            }
            return this;
        }
    }

    /**
     * Computes the gradient of ReLU from this gradient {@code g} of its value {@code y}: {@code g} where {@code y} is
     * positive, 0 elsewhere. On the CPU an infinite {@code g} becomes NaN where {@code y} is 0.
     */
    public Tensor reluBackward(Tensor y) {
        return y.sign().mulInPlace(this); // a quarter of the time of where(y > 0, g, 0) on the CPU
    }

    /**
     * Computes the gradient of ReLU6 from this gradient {@code g} of its value {@code y}: {@code g} where {@code y} lies
     * strictly between 0 and 6, 0 elsewhere.
     */
    public Tensor relu6Backward(Tensor y) {
        try (Scope scope = Scope.open()) {
            Tensor inside = y.mul(-1).add(6).mulInPlace(y); // (6 − y)·y is positive strictly between the bounds only
            return scope.keep(inside.sign().mulInPlace(this));
        }
    }

    /** Computes {@code a + b}. */
    public Tensor add(Tensor b) {
        return addScaled(b, 1);
    }

    /** Computes {@code a + value}. */
    public Tensor add(double value) {
        return DeviceFunctions.result(
                "add of a number",
                (arena, out) -> (int) DeviceFunctions.of(this).addScalar.invokeExact(handle(), value, 1.0, out),
                this);
    }

    /** Computes {@code a − b}. */
    public Tensor sub(Tensor b) {
        return addScaled(b, -1);
    }

    /** Computes {@code a + factor·b}. */
    public Tensor addScaled(Tensor b, double factor) {
        Checks.broadcastable("add", this, b);
        return DeviceFunctions.result(
                "add",
                (arena, out) -> (int) DeviceFunctions.of(this, b).add.invokeExact(handle(), b.handle(), factor, out),
                this,
                b);
    }

    /** Computes {@code a·b} element by element. */
    public Tensor mul(Tensor b) {
        Checks.broadcastable("mul", this, b);
        return Operators.MUL.call(this, b);
    }

    /** Computes {@code factor·a}. */
    public Tensor mul(double factor) {
        return DeviceFunctions.result(
                "mul by a number",
                (arena, out) -> (int) DeviceFunctions.of(this).mulScalar.invokeExact(handle(), factor, out),
                this);
    }

    /** Computes {@code a ← a·b} and returns a. */
    public Tensor mulInPlace(Tensor b) {
        Checks.broadcastable("mul", this, b);
        return Operators.MUL_IN_PLACE.inPlace(this, b);
    }

    /** Computes {@code a ← factor·a} and returns a. */
    public Tensor mulInPlace(double factor) {
        try (Scope _ = Scope.open()) {
            return Operators.MUL_IN_PLACE.inPlace(this, Tensors.number(factor, type));
        }
    }

    /** Computes {@code a/b} element by element. */
    public Tensor div(Tensor b) {
        Checks.broadcastable("div", this, b);
        Checks.floating("div", this);
        return Operators.DIV.call(this, b);
    }

    /** Computes {@code a^exponent}. */
    public Tensor pow(double exponent) {
        Checks.floating("pow", this);
        return DeviceFunctions.result(
                "pow",
                (arena, out) -> (int) DeviceFunctions.of(this).powScalar.invokeExact(handle(), exponent, out),
                this);
    }

    /** Computes the element-wise maximum. */
    public Tensor maximum(Tensor b) {
        Checks.broadcastable("maximum", this, b);
        return Operators.MAXIMUM.call(this, b);
    }

    /** Computes {@code max(a, floor)}. */
    public Tensor atLeast(double floor) {
        try (Scope scope = Scope.open()) {
            return scope.keep(Operators.MAXIMUM.call(this, Tensors.number(floor, type)));
        }
    }

    /** Computes {@code min(max(a, low), high)}. */
    public Tensor clip(double low, double high) {
        Checks.floating("clip", this);
        try (Scope scope = Scope.open()) {
            Tensor least = Operators.MAXIMUM.call(this, Tensors.number(low, type));
            return scope.keep(Operators.MINIMUM.call(least, Tensors.number(high, type)));
        }
    }

    /** Compares {@code a = b}; returns a BOOL tensor. */
    public Tensor equal(Tensor b) {
        Checks.broadcastable("equal", this, b);
        return Operators.EQUAL.call(this, b);
    }

    /** Compares {@code a > b}; returns a BOOL tensor. */
    public Tensor greater(Tensor b) {
        Checks.broadcastable("greater", this, b);
        return Operators.GREATER.call(this, b);
    }

    /** Compares {@code a > value}; returns a BOOL tensor. */
    public Tensor greater(double value) {
        try (Scope scope = Scope.open()) {
            return scope.keep(Operators.GREATER.call(this, Tensors.number(value, type)));
        }
    }

    /** Computes {@code exp(x) / Σ exp(x)} along the last dimension. */
    public Tensor softmax() {
        Checks.floating("softmax", this);
        return Operators.SOFTMAX.call(this, -1L, false);
    }

    /** Computes {@code x − log Σ exp(x)} along the last dimension. */
    public Tensor logSoftmax() {
        Checks.floating("log-softmax", this);
        return Operators.LOG_SOFTMAX.call(this, -1L, false);
    }

    /**
     * Computes the product {@code A·B} of matrices or batches {@code [n, a, b] · [n, b, c] = [n, a, c]}; a single matrix is
     * broadcast over a batch {@code [n, a, b]}, all other leading dimensions must be equal.
     */
    public Tensor matmul(Tensor b) {
        Checks.sameKind("matmul", this, b);
        int m = shape.rank();
        int n = b.shape.rank();
        if (m < 2 || n < 2 || (m != n && Math.max(m, n) > 3) || size(-1) != b.size(-2)) {
            throw Checks.mismatch("matmul", this, b, "expected matrices [.., a, b] and [.., b, c]");
        }
        for (int i = 0; m == n && i < m - 2; i++) {
            if (size(i) != b.size(i)) {
                throw Checks.mismatch("matmul", this, b, "both batches must be of one size");
            }
        }
        return Operators.MATMUL.call(this, b);
    }

    /**
     * Computes the product of two matrices in another type. On a GPU the float32 product of 16-bit matrices is not rounded to
     * 16 bits (libtorch 2.10 and later).
     */
    public Tensor matmul(Tensor b, DType wanted) {
        boolean direct = wanted == DType.F32
                && (type == DType.BF16 || type == DType.F16)
                && device.kind() == Device.Kind.CUDA
                && Libtorch.load().hasLists(); // the operator is there since 2.8, on GPUs only
        if (!direct) {
            try (Scope scope = Scope.open()) {
                return scope.keep(matmul(b).to(wanted));
            }
        }
        Checks.sameKind("matmul", this, b);
        Checks.rank("matmul", this, 2);
        Checks.rank("matmul", b, 2);
        return Operators.MM_TYPED.call(this, b, (long) wanted.code());
    }

    /**
     * Computes {@code x·Wᵀ + b} of rows {@code [.., d]}, with the bias added inside the product.
     *
     * @param weight W {@code [k, d]}
     * @param bias b {@code [k]}
     * @return {@code [.., k]}
     */
    public Tensor linear(Tensor weight, Tensor bias) {
        Checks.sameKind("linear", this, weight);
        Checks.sameKind("linear", weight, bias);
        if (weight.shape.rank() != 2 || size(-1) != weight.size(1) || !bias.shape.equals(Shape.of(weight.size(0)))) {
            throw Checks.mismatch("linear", this, weight, "expected [.., d], weights [k, d] and a bias [k]");
        }
        return Operators.LINEAR.call(this, weight, Optional.of(bias));
    }

    /**
     * Computes {@code Σ_i a_i·b_i}, the sum of the products of this batch {@code [n, a, b]} with another.
     *
     * @param b {@code [n, b, c]}
     * @return {@code [a, c]}
     */
    public Tensor sumOfProducts(Tensor b) {
        checkBatches("sum of products", this, b);
        try (Scope scope = Scope.open()) {
            if (device.kind() == Device.Kind.CUDA) {
                return scope.keep(asOneProduct(b));
            }
            Tensor zero = Tensors.zeros(Shape.of(size(1), b.size(2)), type, device);
            return scope.keep(DeviceFunctions.result(
                    "sum of products",
                    (arena, out) -> (int) DeviceFunctions.of(this)
                            .sumOfProducts
                            .invokeExact(zero.handle(), handle(), b.handle(), 0.0, 1.0, out),
                    this,
                    b));
        }
    }

    /** Concatenates the batch along the summed dimension: one launch on the GPU, where addbmm makes one per matrix. */
    private Tensor asOneProduct(Tensor b) {
        long summed = size(0) * size(2);
        Tensor left = transpose(0, 1).reshape(size(1), summed);
        return left.matmul(b.reshape(summed, b.size(2)));
    }

    /** Computes {@code x ← keep·x + factor·a·b} for batches of matrices and returns x. */
    public Tensor addProducts(double keep, double factor, Tensor a, Tensor b) {
        checkBatches("product", a, b);
        Checks.sameKind("product", this, a);
        if (!shape.equals(Shape.of(a.size(0), a.size(1), b.size(2)))) {
            throw Checks.mismatch("product", a, b, "their product does not have the target's shape " + this);
        }
        MethodHandle f = DeviceFunctions.of(this).addProducts;
        NativeErrors.call("product of batches", () ->
                (int) f.invokeExact(handle(), handle(), a.handle(), b.handle(), keep, factor));
        return this;
    }

    private static void checkBatches(String operation, Tensor a, Tensor b) {
        Checks.sameKind(operation, a, b);
        if (a.shape.rank() != 3 || b.shape.rank() != 3 || a.size(0) != b.size(0) || a.size(2) != b.size(1)) {
            throw Checks.mismatch(operation, a, b, "expected batches [n, a, b] and [n, b, c]");
        }
    }

    /** Sums all elements; returns a tensor of shape {@code []}. */
    public Tensor sum() {
        return Operators.SUM.call(this, null);
    }

    /** Averages all elements; returns a tensor of shape {@code []}. */
    public Tensor mean() {
        Checks.floating("mean", this);
        return Operators.MEAN.call(this, null);
    }

    /** Sums over dimensions, which keep size 1; without dimensions returns a copy. */
    public Tensor sum(int... dimensions) {
        Checks.floating("sum", this);
        boolean[] summed = new boolean[shape.rank()];
        for (int dimension : dimensions) {
            summed[shape.index(dimension)] = true;
        }
        long[] list = IntStream.range(0, summed.length)
                .filter(i -> summed[i])
                .mapToLong(i -> i)
                .toArray();
        if (list.length == 0) {
            return copy();
        }
        if (Libtorch.load().hasLists()) {
            return Operators.SUM_OF.call(this, Optional.of(list), true, null);
        }
        return sumByProducts(summed);
    }

    /** Sums the columns of a matrix {@code [m, c]}; returns {@code [c]}. */
    public Tensor columnSums() {
        return sum(0).reshape(size(1));
    }

    /**
     * Sums over dimensions for libtorch before 2.10, whose dispatcher accepts no lists: runs of adjacent dimensions are
     * summed from the last to the first, each by a product with ones.
     */
    private Tensor sumByProducts(boolean[] summed) {
        try (Scope scope = Scope.open()) {
            Tensor sum = this;
            int end = summed.length;
            while (end > 0) {
                int start = end - 1;
                if (summed[start]) {
                    while (start > 0 && summed[start - 1]) {
                        start--;
                    }
                    sum = sum.sumRun(start, end);
                }
                end = start;
            }
            return scope.keep(sum);
        }
    }

    private Tensor sumRun(int start, int end) {
        long[] sizes = shape.sizes();
        long before = product(sizes, 0, start);
        long run = product(sizes, start, end);
        long after = product(sizes, end, sizes.length);
        Arrays.fill(sizes, start, end, 1);
        Tensor ones = Tensors.full(1, Shape.of(1, run), type, device);
        if (after == 1) {
            Tensor rows = reshape(before, run);
            return Operators.MATMUL.call(rows, ones.transpose()).reshape(sizes);
        }
        return Operators.MATMUL.call(ones, reshape(before, run, after)).reshape(sizes);
    }

    private static long product(long[] sizes, int start, int end) {
        return Arrays.stream(sizes, start, end).reduce(1, (a, b) -> a * b);
    }

    /** Computes the maxima along a dimension, which keeps size 1. */
    public Tensor max(int dimension) {
        Largest largest = largest(dimension);
        largest.indices.close();
        return largest.values;
    }

    /**
     * Maxima along a dimension with their indices.
     *
     * @param values maxima; the dimension has size 1
     * @param indices indices of the same shape, I64
     */
    public record Largest(Tensor values, Tensor indices) {}

    /** Computes the maxima along a dimension, which keeps size 1, and their indices; of equal elements any. */
    public Largest largest(int dimension) {
        Tensor[] valuesAndIndices = Operators.MAX.results(2, this, (long) shape.index(dimension), true);
        return new Largest(valuesAndIndices[0], valuesAndIndices[1]);
    }

    /** Returns whether no element is NaN or infinite. */
    public boolean allFinite() {
        try (Scope _ = Scope.open()) {
            return Operators.ALL.call(Operators.IS_FINITE.call(this)).toBytes()[0] != 0;
        }
    }

    /** Returns the largest magnitude of an element; 0 for a tensor without elements. */
    public double largestMagnitude() {
        if (shape.elements() == 0) {
            return 0;
        }
        try (Scope _ = Scope.open()) {
            return abs().reshape(shape.elements()).max(0).item();
        }
    }

    private Tensor view(long[] sizes, long[] strides, long offset) {
        return new Tensor(Native.view(handle(), sizes, strides, offset), anchor);
    }

    /** Returns another handle on the same elements. */
    public Tensor alias() {
        return view(shape.sizes(), strides(), 0);
    }

    /** Reshapes in row-major order; copies only if the tensor is not contiguous. */
    public Tensor reshape(long... sizes) {
        Shape wanted = Shape.of(sizes);
        if (wanted.elements() != shape.elements()) {
            throw new IllegalArgumentException("reshape: " + this + " has " + shape.elements() + " elements, the shape "
                    + wanted + " has " + wanted.elements());
        }
        try (Scope scope = Scope.open()) {
            return scope.keep(contiguous().view(sizes, wanted.strides(), 0));
        }
    }

    /** Returns the elements of a {@linkplain #isDense dense} tensor in the order of memory, {@code [elements]}. */
    Tensor flat() {
        return view(new long[] {shape.elements()}, new long[] {1}, 0);
    }

    /** Transposes a batch of matrices: swaps the last two dimensions. */
    public Tensor transpose() {
        return transpose(-2, -1);
    }

    /** Swaps two dimensions. */
    public Tensor transpose(int first, int second) {
        int i = shape.index(first);
        int j = shape.index(second);
        long[] sizes = shape.sizes();
        long[] swapped = strides();
        swap(sizes, i, j);
        swap(swapped, i, j);
        return view(sizes, swapped, 0);
    }

    private static void swap(long[] values, int i, int j) {
        long kept = values[i];
        values[i] = values[j];
        values[j] = kept;
    }

    /** Reorders dimensions: dimension i of the result is dimension {@code order[i]} of this tensor. */
    public Tensor permute(int... order) {
        boolean each = IntStream.range(0, strides.length)
                .allMatch(i -> IntStream.of(order).anyMatch(j -> i == j));
        if (order.length != strides.length || !each) {
            throw new IllegalArgumentException(
                    "permute: expected each dimension of " + this + " once, found " + Arrays.toString(order));
        }
        return view(
                IntStream.of(order).mapToLong(this::size).toArray(),
                IntStream.of(order).mapToLong(i -> strides[i]).toArray(),
                0);
    }

    /** Splits one dimension into several, in row-major order, without copying. */
    public Tensor split(int dimension, long... sizes) {
        int along = shape.index(dimension);
        Shape parts = Shape.of(sizes);
        if (parts.elements() != size(along)) {
            throw new IllegalArgumentException(
                    "split: dimension " + dimension + " of " + this + " cannot become " + parts);
        }
        List<Long> all = list(shape.sizes());
        List<Long> steps = list(strides);
        all.remove(along);
        long step = steps.remove(along);
        all.addAll(along, list(sizes));
        steps.addAll(
                along, list(LongStream.of(parts.strides()).map(s -> s * step).toArray()));
        return view(array(all), array(steps), 0);
    }

    /** Returns the elements from {@code start} (inclusive) to {@code end} (exclusive) along one dimension. */
    public Tensor slice(int dimension, long start, long end) {
        int i = shape.index(dimension);
        if (start < 0 || end < start || end > size(i)) {
            throw new IllegalArgumentException("slice: from " + start + " to " + end + " along dimension " + dimension
                    + " does not lie within " + this);
        }
        return view(shape.with(i, end - start).sizes(), strides(), start * strides[i]);
    }

    /** Inserts a dimension of size 1 before the given index. */
    public Tensor unsqueeze(int index) {
        List<Long> sizes = list(shape.sizes());
        List<Long> steps = list(strides);
        int i = index < 0 ? index + sizes.size() + 1 : index;
        sizes.add(i, 1L);
        steps.add(i, 1L);
        return view(array(sizes), array(steps), 0);
    }

    /** Repeats dimensions of size 1 to the given sizes without copying. */
    public Tensor expand(long... sizes) {
        long[] steps = strides();
        if (sizes.length != steps.length) {
            throw new IllegalArgumentException("expand: " + this + " cannot become " + Shape.of(sizes));
        }
        for (int i = 0; i < sizes.length; i++) {
            if (size(i) != sizes[i]) {
                if (size(i) != 1) {
                    throw new IllegalArgumentException("expand: " + this + " cannot become " + Shape.of(sizes));
                }
                steps[i] = 0;
            }
        }
        return view(sizes, steps, 0);
    }

    /** Returns the diagonals of matrices {@code [..., m, n]} as a writable view {@code [..., min(m, n)]}. */
    public Tensor diagonal() {
        List<Long> sizes = list(shape.sizes());
        List<Long> steps = list(strides);
        long size = Math.min(sizes.removeLast(), sizes.removeLast());
        long step = steps.removeLast() + steps.removeLast();
        sizes.add(size);
        steps.add(step);
        return view(array(sizes), array(steps), 0);
    }

    private static List<Long> list(long[] values) {
        List<Long> list = new ArrayList<>();
        for (long value : values) {
            list.add(value);
        }
        return list;
    }

    private static long[] array(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }

    /** Gathers the entries at the given indices along a dimension. */
    public Tensor select(int dimension, Tensor indices) {
        requireIndices("select", indices);
        return Operators.INDEX_SELECT.call(this, (long) shape.index(dimension), indices);
    }

    /** Writes entries to distinct indices along a dimension and returns this tensor. */
    public Tensor put(int dimension, Tensor indices, Tensor entries) {
        Checks.sameKind("put", this, entries);
        requireIndices("put", indices);
        if (!entries.shape.equals(shape.with(dimension, indices.size(0)))) {
            throw Checks.mismatch("put", this, entries, "expected entries for " + indices.size(0) + " indices");
        }
        return Operators.INDEX_COPY.inPlace(this, (long) shape.index(dimension), indices, entries);
    }

    /** Adds entries at indices along a dimension and returns this tensor; an index may occur several times. */
    public Tensor addAt(int dimension, Tensor indices, Tensor entries) {
        Checks.sameKind("add", this, entries);
        requireIndices("add", indices);
        int along = shape.index(dimension);
        if (!entries.shape.equals(shape.with(along, indices.size(0)))) {
            throw Checks.mismatch("add", this, entries, "expected entries for " + indices.size(0) + " indices");
        }
        try (Scope _ = Scope.open()) {
            long[] column = new long[shape.rank()];
            Arrays.fill(column, 1);
            column[along] = indices.size(0);
            Tensor each = indices.reshape(column).expand(entries.shape.sizes());
            return Operators.SCATTER_ADD.inPlace(this, (long) along, each, entries);
        }
    }

    private void requireIndices(String operation, Tensor indices) {
        if (indices.type != DType.I64 || indices.shape.rank() != 1 || !indices.device.equals(device)) {
            throw Checks.mismatch(operation, this, indices, "expected a list of I64 indices on the same device");
        }
    }

    /** Converts to a type; returns the tensor itself if it has that type. */
    public Tensor to(DType wanted) {
        return type == wanted
                ? this
                : Operators.CONVERT.call(this, Optional.of((long) wanted.code()), null, null, null, false, null);
    }

    /** Copies to a device; returns the tensor itself if it is there. */
    public Tensor to(Device target) {
        if (device.equals(target)) {
            return this;
        }
        try (Scope scope = Scope.open()) {
            Tensor copy = Tensors.empty(shape, type, target);
            copy.copyFrom(this);
            return scope.keep(copy);
        }
    }

    /** Returns an independent copy. */
    public Tensor copy() {
        return Operators.CLONE.call(this, (Object) null);
    }

    /** Returns the tensor itself if it is contiguous, else a contiguous copy. */
    public Tensor contiguous() {
        return isContiguous() ? this : Operators.CONTIGUOUS.call(this, 0L);
    }

    /**
     * Returns feature maps {@code [n, c, h, w]} in channels-last memory format, as bfloat16 convolutions on a GPU need
     * it: the tensor itself or a copy of the same shape.
     */
    public Tensor channelsLast() {
        Checks.rank("channels last", this, 4);
        return isChannelsLast() ? this : Operators.CONTIGUOUS.call(this, CHANNELS_LAST);
    }

    @Override
    public void close() {
        if (!handle.equals(MemorySegment.NULL)) {
            MemorySegment freed = handle;
            handle = MemorySegment.NULL;
            Scope.detach(this);
            LIVE.decrement();
            Native.delete(freed);
        }
    }

    /** Returns type, shape and, unless it is the CPU, the device: {@code F32[3, 7, 12]}. */
    @Override
    public String toString() {
        return type + shape.toString() + (device.equals(Device.CPU) ? "" : " on " + device);
    }
}
