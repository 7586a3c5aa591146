// Sums and maxima over a warp, in front of every CUDA program; org.gramian.tensor.cuda.CudaProgram puts them there.

// Sum over a warp, in all of its threads.
__device__ inline float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
    return value;
}

__device__ inline float larger(float a, float b) {
    return a != a || a > b ? a : b; // NaN stays NaN
}

// Maximum over a warp, in all of its threads.
__device__ inline float warp_max(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value = larger(value, __shfl_xor_sync(0xffffffff, value, offset));
    return value;
}
