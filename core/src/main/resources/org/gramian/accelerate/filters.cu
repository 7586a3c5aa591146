// Filters of convolutions, from float32 [k, c, t] with t taps, as they are trained, to bfloat16 with channels last, [k, t, c],
// as tensor cores take them, and their gradients back; org.gramian.accelerate.FilterKernels launches these. A block takes one filter.

// out = s w. With a batch norm, s = gamma / sqrt(variance + epsilon), and the bias is beta - mean s, in bfloat16 if half is set;
// without one gamma is null and s = 1.
extern "C" __global__ void fold(
        const float* __restrict__ w, unsigned short* __restrict__ out, int c, int t, const float* gamma, const float* beta,
        const float* mean, const float* variance, float epsilon, void* bias, int half) {
    int filter = blockIdx.x, count = c * t;
    float scale = 1;
    if (gamma) {
        scale = gamma[filter] / sqrtf(variance[filter] + epsilon);
        if (threadIdx.x == 0) {
            float offset = beta[filter] - mean[filter] * scale;
            if (half) ((unsigned short*) bias)[filter] = rounded(offset);
            else ((float*) bias)[filter] = offset;
        }
    }
    const float* from = w + (long long) filter * count;
    unsigned short* to = out + (long long) filter * count;
    if (t == 1) {
        #pragma unroll 4
        for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = rounded(scale * from[i]);
    } else {
        #pragma unroll 4
        for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = rounded(scale * from[i % c * t + i / c]);
    }
}

// For the gradient g [k, t, c] of out and the sums db [k] of that of the bias: dw = s g, and
// dgamma = (<g, w> - mean db) / sqrt(variance + epsilon); without a batch norm gamma is null and dw = g.
extern "C" __global__ void fold_backward(
        const unsigned short* __restrict__ g, const float* __restrict__ w, float* __restrict__ dw, int c, int t,
        const float* gamma, const float* mean, const float* variance, float epsilon, const float* sums, float* dgamma) {
    __shared__ float parts[8];
    int filter = blockIdx.x, count = c * t;
    long long begin = (long long) filter * count;
    float inverse = gamma ? 1 / sqrtf(variance[filter] + epsilon) : 1;
    float scale = gamma ? gamma[filter] * inverse : 1;
    float dot = 0;
    #pragma unroll 4
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        float value = low(g[begin + (t == 1 ? i : i % t * c + i / t)]);
        dw[begin + i] = scale * value;
        if (gamma) dot += value * w[begin + i];
    }
    if (!gamma) return;
    for (int half = 16; half > 0; half /= 2) dot += __shfl_down_sync(0xffffffffu, dot, half);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = dot;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < blockDim.x / 32; i++) dot += parts[i]; // in a fixed order: the same bits every time
    dgamma[filter] = (dot - mean[filter] * sums[filter]) * inverse;
}
