// Passes that libtorch's operators make two of; org.gramian.tensor.Elementwise launches these.

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
    unsigned int low = y[i] & 0xffffu, high = y[i] >> 16;
    unsigned int mask = (low != 0 && low < bound ? 0xffffu : 0) | (high != 0 && high < bound ? 0xffff0000u : 0);
    out[i] = g[i] & mask;
}
