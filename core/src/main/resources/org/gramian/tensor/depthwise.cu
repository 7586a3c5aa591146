// Depthwise convolutions of bfloat16 maps with channels last; org.gramian.tensor.DepthwiseKernels launches these and defines
// K (rows and columns of the window), S (stride), P (padding) and STRIP. Maps are [n, h, w, 4·c4], sums are taken in float32.
//
// A thread takes four channels, which are one access to memory, of STRIP positions in a row, so that a value that it reads
// enters up to STRIP sums, and a row of weights is read once for all of them. Thread (x, y) of block (i, j) takes the
// channels 4·(j·blockDim.x + x) + 0…3, and strips y, y + blockDim.y, … of the i-th share of all strips: what neighbouring rows
// read twice is then still in the cache.

#define LANES 60
#define READ ((STRIP - 1) * S + K)
#define SHORT 4 // strips of depthwise_weight

// A block's share of a number of tasks.
struct Share {
    int first, end;

    __device__ Share(int count) {
        int size = (count + gridDim.x - 1) / gridDim.x;
        first = min(count, (int) blockIdx.x * size);
        end = min(count, first + size);
    }
};

__device__ inline void unpack(uint2 words, float* values) {
    values[0] = __uint_as_float(words.x << 16); values[1] = __uint_as_float(words.x & 0xffff0000u);
    values[2] = __uint_as_float(words.y << 16); values[3] = __uint_as_float(words.y & 0xffff0000u);
}

// Two numbers as bfloat16 in a word, each to the nearest, ties to even.
__device__ inline unsigned int rounded(float low, float high) {
#if __CUDA_ARCH__ >= 800
    unsigned int word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
#else
    unsigned int a = __float_as_uint(low), b = __float_as_uint(high);
    a = low != low ? 0x7fffu : (a + 0x7fffu + ((a >> 16) & 1u)) >> 16;
    b = high != high ? 0x7fffu : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    return a | b << 16;
#endif
}

__device__ inline uint2 pack(const float* values) {
    return make_uint2(rounded(values[0], values[1]), rounded(values[2], values[3]));
}

// The weights [c, K, K] of a block's channels as [K·K, channels].
__device__ inline void load(const float* weights, float4* taps) {
    const float* of = weights + 4 * K * K * (blockIdx.y * blockDim.x + threadIdx.x);
    for (int i = threadIdx.y; i < K * K; i += blockDim.y) {
        taps[i * blockDim.x + threadIdx.x] = make_float4(of[i], of[K * K + i], of[2 * K * K + i], of[3 * K * K + i]);
    }
    __syncthreads();
}

__device__ inline void add(float* sum, const float* values, float4 tap) {
    sum[0] += values[0] * tap.x; sum[1] += values[1] * tap.y; sum[2] += values[2] * tap.z; sum[3] += values[3] * tap.w;
}

// y = min(max(x * weights + bias, low), high) of maps x [n, h, w, 4·c4] with y [n, oh, ow, 4·c4].
extern "C" __global__ void __launch_bounds__(256) depthwise(
        const uint2* x, const float* weights, const float* bias, uint2* y,
        int n, int h, int w, int oh, int ow, int c4, float low, float high) {
    __shared__ float4 taps[K * K * LANES];
    int lane = blockIdx.y * blockDim.x + threadIdx.x;
    load(weights, taps);
    float biases[4];
    for (int k = 0; k < 4; k++) biases[k] = bias ? bias[4 * lane + k] : 0;
    int across = (ow + STRIP - 1) / STRIP;
    Share share(n * oh * across);
    for (int strip = share.first + threadIdx.y; strip < share.end; strip += blockDim.y) {
        int line = strip / across, column = strip % across * STRIP;
        int row = line % oh;
        const uint2* image = x + (long long) (line / oh) * h * w * c4 + lane;
        float sums[STRIP][4];
        #pragma unroll
        for (int t = 0; t < STRIP; t++) for (int k = 0; k < 4; k++) sums[t][k] = biases[k];
        #pragma unroll 1
        for (int a = 0; a < K; a++) {
            int r = row * S - P + a;
            if (r < 0 || r >= h) continue;
            float4 tap[K];
            #pragma unroll
            for (int b = 0; b < K; b++) tap[b] = taps[(a * K + b) * blockDim.x + threadIdx.x];
            #pragma unroll
            for (int j = 0; j < READ; j++) {
                int c = column * S - P + j;
                float values[4];
                unpack(c >= 0 && c < w ? image[(r * w + c) * c4] : make_uint2(0, 0), values);
                #pragma unroll
                for (int t = 0; t < STRIP; t++) {
                    int b = j - t * S;
                    if (b >= 0 && b < K) add(sums[t], values, tap[b]);
                }
            }
        }
        uint2* to = y + ((long long) line * ow + column) * c4 + lane;
        #pragma unroll
        for (int t = 0; t < STRIP; t++) {
            // what is no number stays none, as with libtorch's clamp
            for (int k = 0; k < 4; k++) sums[t][k] = sums[t][k] < low ? low : sums[t][k] > high ? high : sums[t][k];
            if (column + t < ow) to[t * c4] = pack(sums[t]);
        }
    }
}

// The gradient of the maps, dx [n, h, w, 4·c4], for that of the result, g [n, oh, ow, 4·c4]; STRIP is a multiple of S.
extern "C" __global__ void __launch_bounds__(256) depthwise_input(
        const uint2* g, const float* weights, uint2* dx, int n, int h, int w, int oh, int ow, int c4) {
    __shared__ float4 taps[K * K * LANES];
    int lane = blockIdx.y * blockDim.x + threadIdx.x;
    load(weights, taps);
    int across = (w + STRIP - 1) / STRIP;
    Share share(n * h * across);
    for (int strip = share.first + threadIdx.y; strip < share.end; strip += blockDim.y) {
        int line = strip / across, column = strip % across * STRIP;
        int row = line % h;
        const uint2* image = g + (long long) (line / h) * oh * ow * c4 + lane;
        float sums[STRIP][4];
        #pragma unroll
        for (int t = 0; t < STRIP; t++) for (int k = 0; k < 4; k++) sums[t][k] = 0;
        #pragma unroll 1
        for (int a = (row + P) % S; a < K; a += S) {
            int r = (row + P - a) / S;
            if (row + P < a || r >= oh) continue;
            float4 tap[K];
            #pragma unroll
            for (int b = 0; b < K; b++) tap[b] = taps[(a * K + b) * blockDim.x + threadIdx.x];
            // position column + t has tap t + P - S·(c - column / S) of the window at c
            #pragma unroll
            for (int m = -((STRIP - 1 + P % S) / S); m <= (K - 1 - P % S) / S; m++) {
                int c = (column + P - P % S) / S - m;
                float values[4];
                unpack(c >= 0 && c < ow ? image[(r * ow + c) * c4] : make_uint2(0, 0), values);
                #pragma unroll
                for (int t = 0; t < STRIP; t++) {
                    int b = t + P % S + S * m;
                    if (b >= 0 && b < K) add(sums[t], values, tap[b]);
                }
            }
        }
        uint2* to = dx + ((long long) line * w + column) * c4 + lane;
        #pragma unroll
        for (int t = 0; t < STRIP; t++) if (column + t < w) to[t * c4] = pack(sums[t]);
    }
}

// The gradient of the weights over the rows of a block: partial is [blocks, c, K, K]. Thread (x, a + K·i) takes row a of the
// windows, and rows i, i + blockDim.y / K, … of the block's share of the results.
extern "C" __global__ void depthwise_weight(
        const uint2* g, const uint2* x, float* partial, int n, int h, int w, int oh, int ow, int c4) {
    __shared__ float totals[K * K * (LANES * 4 + 1)];
    int channels = 4 * blockDim.x, pitch = channels + 1, lane = blockIdx.y * blockDim.x + threadIdx.x;
    int a = threadIdx.y % K, worker = threadIdx.y / K, workers = blockDim.y / K;
    float sums[K][4];
    #pragma unroll
    for (int b = 0; b < K; b++) for (int k = 0; k < 4; k++) sums[b][k] = 0;
    Share share(n * oh);
    for (int line = share.first + worker; line < share.end; line += workers) {
        int r = line % oh * S - P + a;
        if (r < 0 || r >= h) continue;
        const uint2* results = g + (long long) line * ow * c4 + lane;
        const uint2* image = x + ((long long) (line / oh) * h + r) * w * c4 + lane;
        #pragma unroll 1
        for (int column = 0; column < ow; column += SHORT) {
            float gradients[SHORT][4];
            #pragma unroll
            for (int t = 0; t < SHORT; t++) {
                unpack(column + t < ow ? results[(column + t) * c4] : make_uint2(0, 0), gradients[t]);
            }
            #pragma unroll
            for (int j = 0; j < (SHORT - 1) * S + K; j++) {
                int c = column * S - P + j;
                float values[4];
                unpack(c >= 0 && c < w ? image[c * c4] : make_uint2(0, 0), values);
                #pragma unroll
                for (int t = 0; t < SHORT; t++) {
                    int b = j - t * S;
                    if (b >= 0 && b < K) for (int k = 0; k < 4; k++) sums[b][k] += values[k] * gradients[t][k];
                }
            }
        }
    }
    for (int i = 0; i < workers; i++) { // in a fixed order: the same bits every time
        if (worker == i) {
            #pragma unroll
            for (int b = 0; b < K; b++) {
                float* of = totals + (a * K + b) * pitch + 4 * threadIdx.x;
                for (int k = 0; k < 4; k++) of[k] = i == 0 ? sums[b][k] : of[k] + sums[b][k];
            }
        }
        __syncthreads();
    }
    float* to = partial + ((long long) blockIdx.x * gridDim.y + blockIdx.y) * channels * K * K;
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < K * K * channels; i += blockDim.x * blockDim.y) {
        to[i] = totals[i % (K * K) * pitch + i / (K * K)];
    }
}
