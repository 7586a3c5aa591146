// The Gaussian kernel of org.gramian.spd.Rbf in as few passes over its C x C matrices as there can be: its class Kernels
// launches these. Letters are those of the Javadoc there: X maps minus their mean, G = XX', s its diagonal, K the kernel.

// X = M - mean of the maps: a block has 32 positions of one image, 16 maps at a time.
extern "C" __global__ void centre(const float* maps, float* x, int channels, int positions) {
    __shared__ float sums[16][33];
    int p = blockIdx.x * 32 + threadIdx.x;
    const float* from = maps + (long long) blockIdx.y * channels * positions;
    float* to = x + (long long) blockIdx.y * channels * positions;
    float sum = 0;
    if (p < positions)
        for (int c = threadIdx.y; c < channels; c += 16) sum += from[(long long) c * positions + p];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int k = 1; k < 16; k++) sum += sums[k][threadIdx.x];
        sums[0][threadIdx.x] = sum / channels;
    }
    __syncthreads();
    float mean = sums[0][threadIdx.x];
    if (p < positions)
        for (int c = threadIdx.y; c < channels; c += 16)
            to[(long long) c * positions + p] = from[(long long) c * positions + p] - mean;
}

// s = diagonal of G, by which distances are differences of what the same product gave.
extern "C" __global__ void diagonal(const float* g, float* s, int channels, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) s[i] = g[(long long) i * channels + i % channels];
}

// Sums of the distances above the diagonal, margin taken off: 8 rows to a block, one for each warp.
extern "C" __global__ void distances(const float* g, const float* s, float* parts, int channels, float keep) {
    __shared__ float sums[8];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int i = blockIdx.x * 8 + warp;
    const float* norms = s + (long long) blockIdx.y * channels;
    float sum = 0;
    if (i < channels) {
        const float* row = g + ((long long) blockIdx.y * channels + i) * channels;
        float si = norms[i];
        for (int j = i + 1 + lane; j < channels; j += 32) {
            float d = keep * (si + norms[j]) - 2 * row[j];
            sum += d > 0 ? sqrtf(d) : d * 0; // NaN stays NaN
        }
    }
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++) sum += sums[k];
        parts[(long long) blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

// factor = -1/(2 sigma^2), sigma the mean distance, one image to a warp.
extern "C" __global__ void widths(const float* parts, float* factor, int count, float pairs, float smallest) {
    float sum = 0;
    for (int k = threadIdx.x; k < count; k += 32) sum += parts[(long long) blockIdx.x * count + k];
    sum = warp_sum(sum);
    if (threadIdx.x > 0) return;
    float sigma = sum / pairs;
    sigma = sigma < smallest ? smallest : sigma;
    factor[blockIdx.x] = -0.5f / (sigma * sigma);
}

// K = exp(factor D) in the memory of G, 1 + jitter on the diagonal. One row to a block.
extern "C" __global__ void gaussian(
        float* g, const float* s, const float* factor, int channels, float keep, float diagonal_value) {
    int i = blockIdx.x;
    const float* norms = s + (long long) blockIdx.y * channels;
    float* row = g + ((long long) blockIdx.y * channels + i) * channels;
    float f = factor[blockIdx.y], si = norms[i];
    for (int j = threadIdx.x; j < channels; j += blockDim.x) {
        float d = keep * (si + norms[j]) - 2 * row[j];
        d = d < 0 ? 0 : d;
        row[j] = i == j ? diagonal_value : expf(f * d);
    }
}

// T = P + P', P = factor dL/dK o K, 0 on the diagonal, and the sums of T's rows, 32 columns of each at a time.
// A block has the tiles (a, b) and (b, a), a <= b; K is symmetric, so one of its tiles is read.
extern "C" __global__ void symmetric_gradient(
        const float* g, const float* k, const float* factor, float* t, float* row_sums, int channels) {
    __shared__ float upper[32][33], lower[32][33];
    int tiles = (channels + 31) / 32;
    int a = blockIdx.x, b = blockIdx.y;
    if (a > b) return;
    long long start = (long long) blockIdx.z * channels * channels;
    float f = factor[blockIdx.z];
    for (int y = threadIdx.y; y < 32; y += 8) {
        int i = a * 32 + y, j = b * 32 + threadIdx.x;
        upper[y][threadIdx.x] = i < channels && j < channels ? g[start + (long long) i * channels + j] : 0;
        int p = b * 32 + y, q = a * 32 + threadIdx.x;
        lower[y][threadIdx.x] = p < channels && q < channels ? g[start + (long long) p * channels + q] : 0;
    }
    __syncthreads();
    float values[4];
    for (int y = threadIdx.y, n = 0; y < 32; y += 8, n++) {
        int i = a * 32 + y, j = b * 32 + threadIdx.x;
        float kernel = i < channels && j < channels ? k[start + (long long) i * channels + j] : 0;
        values[n] = i == j ? 0 : f * kernel * (upper[y][threadIdx.x] + lower[threadIdx.x][y]);
    }
    __syncthreads();
    for (int y = threadIdx.y, n = 0; y < 32; y += 8, n++) {
        int i = a * 32 + y, j = b * 32 + threadIdx.x;
        upper[y][threadIdx.x] = values[n];
        if (i < channels && j < channels) t[start + (long long) i * channels + j] = values[n];
        float sum = warp_sum(values[n]);
        if (threadIdx.x == 0 && i < channels)
            row_sums[((long long) blockIdx.z * tiles + b) * channels + i] = sum;
    }
    if (a == b) return;
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) {
        int i = b * 32 + y, j = a * 32 + threadIdx.x;
        float value = upper[threadIdx.x][y];
        if (i < channels && j < channels) t[start + (long long) i * channels + j] = value;
        float sum = warp_sum(value);
        if (threadIdx.x == 0 && i < channels)
            row_sums[((long long) blockIdx.z * tiles + a) * channels + i] = sum;
    }
}

// dL/dM = 2 (rowsum(T) o X - TX), in the memory of TX. One map to a block.
extern "C" __global__ void maps_gradient(
        float* tx, const float* x, const float* row_sums, int channels, int positions, int tiles) {
    float sum = 0;
    for (int k = 0; k < tiles; k++)
        sum += row_sums[((long long) blockIdx.y * tiles + k) * channels + blockIdx.x];
    long long start = ((long long) blockIdx.y * channels + blockIdx.x) * positions;
    for (int p = threadIdx.x; p < positions; p += blockDim.x)
        tx[start + p] = 2 * (sum * x[start + p] - tx[start + p]);
}
