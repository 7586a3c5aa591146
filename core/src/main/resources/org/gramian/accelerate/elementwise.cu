// Passes that libtorch's operators make two of; org.gramian.accelerate.ElementwiseKernels launches these.

// g where 0 < y < bound, else 0.
extern "C" __global__ void relu_backward(const float* g, const float* y, float* out, long long count, float bound) {
    long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = y[i] > 0 && !(y[i] >= bound) ? g[i] : 0;
}

// The same of bfloat16, two elements to a word: of positive numbers the order is that of their bits.
extern "C" __global__ void relu_backward_bf16(
        const unsigned int* g, const unsigned int* y, unsigned int* out, long long words, int bound) {
    long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    out[i] = g[i] & between(y[i], bound);
}

// Tensors of float32 one after the other, as the launch carries them by value: org.gramian.accelerate.ElementwiseKernels has the same layout.
enum { SOURCES = 32 };

struct Sources {
    const float4* values[SOURCES];
    int start[SOURCES];  // first vector of four elements of each tensor among those of all
    int size;            // tensors in use
    int count;           // vectors of all tensors
};

// All tensors as bfloat16, without gaps.
extern "C" __global__ void round_all(uint2* out, Sources sources) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sources.count) return;
    int low = 0, high = sources.size - 1;
    while (low < high) { // the last tensor that does not begin behind this vector
        int middle = (low + high + 1) / 2;
        if (sources.start[middle] <= i) low = middle;
        else high = middle - 1;
    }
    float4 values = sources.values[low][i - sources.start[low]];
    out[i] = make_uint2(rounded(values.x) | rounded(values.y) << 16, rounded(values.z) | rounded(values.w) << 16);
}
