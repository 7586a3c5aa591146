// Passes over feature maps of bfloat16 with channels last, and over tokens; org.gramian.accelerate.FeatureMapKernels launches these. A
// thread takes eight channels of a position, which are one access to memory.

// A window: rows and columns of it, steps, padding.
#define WINDOW int kh, int kw, int sh, int sw, int ph, int pw

// The largest value of each window of maps [n, h, w, 8·c8], and which of its places it has, the first of equals.
extern "C" __global__ void max_pool(const uint4* x, uint4* y, uint2* places,
        int h, int w, int oh, int ow, int c8, WINDOW, long long count) {
    long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int v = (int) (i % c8);
    long long position = i / c8;
    int column = (int) (position % ow);
    long long line = position / ow;
    int row = (int) (line % oh);
    const uint4* of = x + line / oh * h * w * c8 + v;
    float best[8];
    unsigned char place[8];
    bool first = true;
    for (int a = 0; a < kh; a++) {
        int r = row * sh - ph + a;
        if (r < 0 || r >= h) continue;
        for (int b = 0; b < kw; b++) {
            int c = column * sw - pw + b;
            if (c < 0 || c >= w) continue;
            float values[8];
            unpack(of[(long long) (r * w + c) * c8], values);
            for (int k = 0; k < 8; k++) {
                if (first || values[k] > best[k] || values[k] != values[k]) {
                    best[k] = values[k];
                    place[k] = (unsigned char) (a * kw + b);
                }
            }
            first = false;
        }
    }
    y[i] = pack(best);
    places[i] = make_uint2(
            place[0] | place[1] << 8 | place[2] << 16 | (unsigned int) place[3] << 24,
            place[4] | place[5] << 8 | place[6] << 16 | (unsigned int) place[7] << 24);
}

// The gradient of the maps: each position takes what the windows around it found there.
extern "C" __global__ void max_pool_backward(const uint4* g, const uint2* places, uint4* out,
        int h, int w, int oh, int ow, int c8, WINDOW, long long count) {
    long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int v = (int) (i % c8);
    long long position = i / c8;
    int column = (int) (position % w);
    long long line = position / w;
    int row = (int) (line % h);
    long long image = line / h;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int lastRow = min((row + ph) / sh, oh - 1);
    int lastColumn = min((column + pw) / sw, ow - 1);
    for (int r = row + ph < kh ? 0 : (row + ph - kh) / sh + 1; r <= lastRow; r++) {
        for (int c = column + pw < kw ? 0 : (column + pw - kw) / sw + 1; c <= lastColumn; c++) {
            unsigned int here = (row + ph - r * sh) * kw + column + pw - c * sw;
            long long at = ((image * oh + r) * ow + c) * c8 + v;
            uint2 found = places[at];
            float values[8];
            unpack(g[at], values);
            for (int k = 0; k < 8; k++) {
                unsigned int place = ((k < 4 ? found.x : found.y) >> 8 * (k & 3)) & 0xffu;
                if (place == here) sum[k] += values[k];
            }
        }
    }
    out[i] = pack(sum);
}

// g where 0 < y < bound, else 0, of rows of 8·c8 channels; and the sum of each channel over the rows of a block: partial is
// [blocks, 8·c8]. Without y nothing is masked, and out may be null.
extern "C" __global__ void relu_backward_sums(
        const uint4* __restrict__ g, const uint4* __restrict__ y, uint4* __restrict__ out, float* __restrict__ partial,
        long long rows, int c8, int bound) {
    __shared__ float sums[256 * 8];
    int across = blockDim.x / c8;
    int lane = threadIdx.x / c8;
    int v = threadIdx.x % c8;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (lane < across) {
        #pragma unroll 4
        for (long long row = (long long) blockIdx.x * across + lane; row < rows; row += (long long) gridDim.x * across) {
            long long at = row * c8 + v;
            uint4 words = g[at];
            float values[8];
            if (y) {
                uint4 gate = y[at];
                words.x &= between(gate.x, bound);
                words.y &= between(gate.y, bound);
                words.z &= between(gate.z, bound);
                words.w &= between(gate.w, bound);
            }
            if (out) out[at] = words;
            unpack(words, values);
            for (int k = 0; k < 8; k++) sum[k] += values[k];
        }
    }
    for (int k = 0; k < 8; k++) sums[threadIdx.x * 8 + k] = sum[k];
    __syncthreads();
    for (int channel = threadIdx.x; channel < 8 * c8; channel += blockDim.x) {
        float total = 0;
        for (int l = 0; l < across; l++) total += sums[l * c8 * 8 + channel];
        partial[(long long) blockIdx.x * 8 * c8 + channel] = total;
    }
}

// y = min(max(y + bias + residual, low), high) in place, of rows of 8·c8 channels; the residual may be null.
extern "C" __global__ void bias_activation(
        uint4* y, const float4* bias, const uint4* residual, long long count, int c8, float low, float high) {
    long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint4 words = y[i], others = residual ? residual[i] : make_uint4(0, 0, 0, 0);
    int v = count >> 32 ? (int) (i % c8) : (int) ((unsigned int) i % (unsigned int) c8); // the latter is faster
    float4 a = bias[2 * v], b = bias[2 * v + 1];
    float values[8], rest[8], offsets[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    unpack(words, values);
    unpack(others, rest);
    for (int k = 0; k < 8; k++) {
        float value = values[k] + offsets[k] + rest[k];
        values[k] = value < low ? low : value > high ? high : value;
    }
    y[i] = pack(values);
}

// Sums of columns of matrices [rows, 8·c8] go through blocks of ACROSS × DOWN threads, of which each takes one vector of every so many
// rows.
enum { ACROSS = 16, DOWN = 16 };

// Adds the sums of the threads of a block and stores them: partial is [blocks down, 8·c8].
__device__ void store_sums(const float* sum, float* partial, int c8) {
    __shared__ float parts[DOWN][ACROSS * 8];
    for (int k = 0; k < 8; k++) parts[threadIdx.y][threadIdx.x * 8 + k] = sum[k];
    __syncthreads();
    int own = threadIdx.y * ACROSS + threadIdx.x;
    int column = blockIdx.x * ACROSS * 8 + own;
    if (own >= ACROSS * 8 || column >= 8 * c8) return;
    float total = 0;
    for (int i = 0; i < DOWN; i++) total += parts[i][own]; // in a fixed order: the same bits every time
    partial[(long long) blockIdx.y * 8 * c8 + column] = total;
}

// The sums of columns.
extern "C" __global__ void column_sums(const uint4* g, float* partial, int rows, int c8) {
    int v = blockIdx.x * ACROSS + threadIdx.x;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (v < c8) {
        #pragma unroll 4
        for (int row = blockIdx.y * DOWN + threadIdx.y; row < rows; row += gridDim.y * DOWN) {
            float values[8];
            unpack(g[(long long) row * c8 + v], values);
            for (int k = 0; k < 8; k++) sum[k] += values[k];
        }
    }
    store_sums(sum, partial, c8);
}

// The derivative of GELU, exact or of its approximation by tanh.
template <bool TANH> __device__ inline float gelu_slope(float x) {
    if (!TANH) return 0.5f * (1 + erff(x * 0.70710678f)) + x * 0.39894228f * expf(-0.5f * x * x);
    float t = tanhf(0.79788456f * (x + 0.044715f * x * x * x));
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * 0.79788456f * (1 + 0.134145f * x * x);
}

// g gelu'(x), and its sums of columns.
template <bool TANH> __device__ void gelu_sums(
        const uint4* __restrict__ g, const uint4* __restrict__ x, uint4* __restrict__ out, float* partial, int rows, int c8) {
    int v = blockIdx.x * ACROSS + threadIdx.x;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (v < c8) {
        #pragma unroll 2
        for (int row = blockIdx.y * DOWN + threadIdx.y; row < rows; row += gridDim.y * DOWN) {
            long long at = (long long) row * c8 + v;
            float values[8], of[8];
            unpack(g[at], values);
            unpack(x[at], of);
            for (int k = 0; k < 8; k++) {
                values[k] *= gelu_slope<TANH>(of[k]);
                sum[k] += values[k];
            }
            out[at] = pack(values);
        }
    }
    store_sums(sum, partial, c8);
}

extern "C" __global__ void gelu_erf_backward_sums(
        const uint4* g, const uint4* x, uint4* out, float* partial, int rows, int c8) {
    gelu_sums<false>(g, x, out, partial, rows, c8);
}

extern "C" __global__ void gelu_tanh_backward_sums(
        const uint4* g, const uint4* x, uint4* out, float* partial, int rows, int c8) {
    gelu_sums<true>(g, x, out, partial, rows, c8);
}

// Three matrices side by side, each [rows, 8·c8], and the sums of columns of the result.
extern "C" __global__ void join_sums(
        const uint4* __restrict__ first, const uint4* __restrict__ second, const uint4* __restrict__ third,
        uint4* __restrict__ out, float* partial, int rows, int c8) {
    int v = blockIdx.x * ACROSS + threadIdx.x;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    if (v < 3 * c8) {
        const uint4* from = v < c8 ? first + v : v < 2 * c8 ? second + (v - c8) : third + (v - 2 * c8);
        #pragma unroll 4
        for (int row = blockIdx.y * DOWN + threadIdx.y; row < rows; row += gridDim.y * DOWN) {
            uint4 words = from[(long long) row * c8];
            out[(long long) row * 3 * c8 + v] = words;
            float values[8];
            unpack(words, values);
            for (int k = 0; k < 8; k++) sum[k] += values[k];
        }
    }
    store_sums(sum, partial, 3 * c8);
}

// The sum of each column of [rows, columns]. Blocks of 32 × 32 threads, one for 32 columns.
extern "C" __global__ void sum_rows(const float* __restrict__ x, float* sums, int rows, int columns) {
    __shared__ float parts[32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (column < columns) {
        #pragma unroll 8
        for (int row = threadIdx.y; row < rows; row += 32) sum += x[(long long) row * columns + column];
    }
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        for (int i = 1; i < 32; i++) sum += parts[i][threadIdx.x]; // in a fixed order: the same bits every time
        sums[column] = sum;
    }
}
