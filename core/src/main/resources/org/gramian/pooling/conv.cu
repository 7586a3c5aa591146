// Passes of a 1x1 convolution with ReLU over maps [n, C, N]; org.gramian.pooling.Reduction.Conv launches these. A map to
// a warp, 8 maps to a block.

// y = max(y + b, 0) in place.
extern "C" __global__ void bias_relu(float* y, const float* bias, int channels, int positions, int maps) {
    int map = blockIdx.x * 8 + threadIdx.x / 32;
    if (map >= maps) return;
    float b = bias[map % channels];
    float* row = y + (long long) map * positions;
    #pragma unroll 4
    for (int p = threadIdx.x % 32; p < positions; p += 32) {
        float value = row[p] + b;
        row[p] = value < 0 ? 0 : value; // NaN stays NaN
    }
}

// out = g where y > 0, else 0, as [C, n, N]; and the sum of each map, as [n, C].
extern "C" __global__ void relu_backward(
        const float* g, const float* y, float* out, float* sums, int images, int channels, int positions) {
    int map = blockIdx.x * 8 + threadIdx.x / 32;
    if (map >= images * channels) return;
    int image = map / channels, channel = map % channels;
    long long from = (long long) map * positions;
    float* to = out + ((long long) channel * images + image) * positions;
    float sum = 0;
    #pragma unroll 4
    for (int p = threadIdx.x % 32; p < positions; p += 32) {
        float value = y[from + p] > 0 ? g[from + p] : 0;
        to[p] = value;
        sum += value;
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) sums[map] = sum;
}
