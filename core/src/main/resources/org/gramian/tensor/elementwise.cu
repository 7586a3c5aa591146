// Passes that libtorch's operators make two of; org.gramian.tensor.Elementwise launches these.

// g where y > 0, else 0.
extern "C" __global__ void relu_backward(const float* g, const float* y, float* out, long long count) {
    long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = y[i] > 0 ? g[i] : 0;
}

// The same of bfloat16, whose sign is the highest bit: two elements to a word.
extern "C" __global__ void relu_backward_bf16(
        const unsigned int* g, const unsigned int* y, unsigned int* out, long long words) {
    long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    unsigned int value = y[i];
    unsigned int low = (value & 0x8000u) || !(value & 0x7fffu) ? 0 : 0xffffu;
    unsigned int high = (value & 0x80000000u) || !(value & 0x7fff0000u) ? 0 : 0xffff0000u;
    out[i] = g[i] & (low | high);
}
