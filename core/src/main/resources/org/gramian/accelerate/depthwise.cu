// Depthwise convolutions of bfloat16 maps with channels last; org.gramian.accelerate.DepthwiseKernels launches these and defines
// K (rows and columns of the window), S (stride), P (padding), PAIRS (threads along the channels of a block, at most), WIDE
// (columns of results of a walk) and GROUPS (groups of S columns of depthwise_input's walk). Maps are [n, h, w, 2·c2], sums are
// taken in float32.
//
// A thread takes two channels, which are one access to memory, of a few columns of an image and walks down its rows. It
// reads each row once: what several rows of results need of it stays in registers. Thread (x, y) of block (i, j) takes the
// channels 2·(j·blockDim.x + x) + 0…1 and walks y, y + blockDim.y, … of block i.

#define SPAN ((WIDE - 1) * S + K)                            // columns of maps under WIDE windows
#define RING ((K + S - 1) / S)                               // rows of results whose windows hold a row of maps
#define FRESH (K < S ? K : S)                                // rows that a window does not share with the one above it

__device__ inline float2 unpack(unsigned int word) {
    return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u));
}

// Two numbers as bfloat16 in a word, each to the nearest, ties to even.
__device__ inline unsigned int pack(float2 value) {
#if __CUDA_ARCH__ >= 800
    unsigned int word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(value.y), "f"(value.x));
    return word;
#else
    unsigned int a = __float_as_uint(value.x), b = __float_as_uint(value.y);
    a = value.x != value.x ? 0x7fffu : (a + 0x7fffu + ((a >> 16) & 1u)) >> 16;
    b = value.y != value.y ? 0x7fffu : (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
    return a | b << 16;
#endif
}

__device__ inline void add(float2& sum, float2 a, float2 b) {
    sum.x += a.x * b.x;
    sum.y += a.y * b.y;
}

// NaN stays NaN, as with libtorch's clamp.
__device__ inline float2 clamped(float2 value, float low, float high) {
    return make_float2(
            value.x < low ? low : value.x > high ? high : value.x, value.y < low ? low : value.y > high ? high : value.y);
}

__device__ inline bool within(int i, int size) { return (unsigned int) i < (unsigned int) size; }

// COUNT columns of a row of maps [rows, columns, 2·c2] at a thread's channels, 0 outside.
template <int COUNT>
__device__ inline void read(
        unsigned int* words, const unsigned int* maps, int row, int rows, int column, int columns, int c2) {
    const unsigned int* from = maps + ((long long) row * columns + column) * c2;
    bool inside = within(row, rows);
    #pragma unroll
    for (int j = 0; j < COUNT; j++) words[j] = inside && within(column + j, columns) ? from[j * c2] : 0;
}

// A walk down rows top … end - 1 from a column of an image, for results of some rows and columns.
struct Walk {
    int column, top, end;
    long long image;

    __device__ Walk(int number, int rows, int columns, int wide, int tall) {
        int across = (columns + wide - 1) / wide, down = (rows + tall - 1) / tall;
        column = number % across * wide;
        top = number / across % down * tall;
        end = min(rows, top + tall);
        image = number / across / down;
    }
};

// The weights [c, K, K] of a thread's channels, turned by 180 degrees if flipped.
__device__ inline void load(const float* weights, float* shared, float2* taps, int flipped) {
    int count = K * K * 2 * blockDim.x;
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < count; i += blockDim.x * blockDim.y) {
        shared[i] = weights[blockIdx.y * count + i];
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < K * K; i++) {
        const float* of = shared + 2 * K * K * threadIdx.x + (flipped ? K * K - 1 - i : i);
        taps[i] = make_float2(of[0], of[K * K]);
    }
}

// y = min(max(x * weights + bias, low), high) of maps x [n, h, w, 2·c2] with y [n, oh, ow, 2·c2]. With flipped
// weights and padding K - 1 - P it gives the gradient of the maps for that of the result, at stride 1.
extern "C" __global__ void __launch_bounds__(128, K <= 5 ? 3 : 2) depthwise(
        const unsigned int* x, const float* weights, const float* bias, unsigned int* y, int walks, int tall,
        int h, int w, int oh, int ow, int c2, int padding, int flipped, float low, float high) {
    __shared__ float shared[K * K * 2 * PAIRS];
    float2 taps[K * K];
    load(weights, shared, taps, flipped);
    int lane = blockIdx.y * blockDim.x + threadIdx.x;
    float2 start = bias ? make_float2(bias[2 * lane], bias[2 * lane + 1]) : make_float2(0, 0);
    for (int number = blockIdx.x * blockDim.y + threadIdx.y; number < walks; number += gridDim.x * blockDim.y) {
        Walk walk(number, oh, ow, WIDE, tall);
        const unsigned int* maps = x + walk.image * h * w * c2 + lane;
        unsigned int* to = y + (walk.image * oh * ow + walk.column) * c2 + lane;
        int left = walk.column * S - padding;
        float2 sums[RING][WIDE]; // of the rows of results q, q - 1, … whose windows hold rows q·S - padding … + S - 1 of the maps
        #pragma unroll
        for (int s = 0; s < RING; s++) for (int t = 0; t < WIDE; t++) sums[s][t] = start;
        unsigned int next[S][SPAN];
        #pragma unroll
        for (int i = 0; i < S; i++) read<SPAN>(next[i], maps, walk.top * S - padding + i, h, left, w, c2);
        for (int step = walk.top; step < walk.end + RING - 1; step += RING) {
            #pragma unroll
            for (int p = 0; p < RING; p++) {
                int q = step + p, done = q - RING + 1;
                #pragma unroll
                for (int i = 0; i < S; i++) {
                    float2 values[SPAN];
                    #pragma unroll
                    for (int j = 0; j < SPAN; j++) values[j] = unpack(next[i][j]);
                    read<SPAN>(next[i], maps, (q + 1) * S - padding + i, h, left, w, c2);
                    if (!within(q * S - padding + i, h)) continue;
                    #pragma unroll
                    for (int a = i; a < K; a += S) {
                        #pragma unroll
                        for (int t = 0; t < WIDE; t++) {
                            #pragma unroll
                            for (int b = 0; b < K; b++) {
                                add(sums[(p - a / S + RING) % RING][t], values[t * S + b], taps[a * K + b]);
                            }
                        }
                    }
                }
                #pragma unroll
                for (int t = 0; t < WIDE; t++) {
                    float2& sum = sums[(p + 1) % RING][t];
                    if (done >= walk.top && done < walk.end && walk.column + t < ow) {
                        to[(done * ow + t) * c2] = pack(clamped(sum, low, high));
                    }
                    sum = start;
                }
            }
        }
    }
}

// The gradient of the maps, dx [n, h, w, 2·c2], for that of the result, g [n, oh, ow, 2·c2]. Rows and columns of dx are taken in
// groups of S: group q is q·S - P … + S - 1, to which g at q - j gives with tap j·S + i.
extern "C" __global__ void __launch_bounds__(128, K <= 4 ? 4 : 2) depthwise_input(
        const unsigned int* g, const float* weights, unsigned int* dx, int walks, int tall,
        int h, int w, int oh, int ow, int c2) {
    __shared__ float shared[K * K * 2 * PAIRS];
    float2 taps[K * K];
    load(weights, shared, taps, 0);
    int lane = blockIdx.y * blockDim.x + threadIdx.x;
    for (int number = blockIdx.x * blockDim.y + threadIdx.y; number < walks; number += gridDim.x * blockDim.y) {
        Walk walk(number, (h + P % S + S - 1) / S, (w + P % S + S - 1) / S, GROUPS, tall);
        const unsigned int* results = g + walk.image * oh * ow * c2 + lane;
        unsigned int* to = dx + walk.image * h * w * c2 + lane;
        int group = walk.column + P / S, left = group - RING + 1, top = walk.top + P / S, end = walk.end + P / S;
        float2 sums[RING][S][GROUPS * S]; // of the groups of rows r, r + 1, … to which row r of g gives
        #pragma unroll
        for (int s = 0; s < RING; s++) {
            for (int i = 0; i < S; i++) for (int t = 0; t < GROUPS * S; t++) sums[s][i][t] = make_float2(0, 0);
        }
        unsigned int next[GROUPS + RING - 1];
        read<GROUPS + RING - 1>(next, results, top - RING + 1, oh, left, ow, c2);
        for (int step = top - RING + 1; step < end; step += RING) {
            #pragma unroll
            for (int p = 0; p < RING; p++) {
                int r = step + p;
                float2 values[GROUPS + RING - 1];
                #pragma unroll
                for (int j = 0; j < GROUPS + RING - 1; j++) values[j] = unpack(next[j]);
                read<GROUPS + RING - 1>(next, results, r + 1, oh, left, ow, c2);
                if (within(r, oh)) {
                    #pragma unroll
                    for (int a = 0; a < K; a++) {
                        #pragma unroll
                        for (int t = 0; t < GROUPS * S; t++) {
                            #pragma unroll
                            for (int b = t % S; b < K; b += S) {
                                add(sums[(p + a / S) % RING][a % S][t], values[t / S + RING - 1 - b / S], taps[a * K + b]);
                            }
                        }
                    }
                }
                #pragma unroll
                for (int i = 0; i < S; i++) {
                    int row = r * S - P + i;
                    #pragma unroll
                    for (int t = 0; t < GROUPS * S; t++) {
                        int column = group * S - P + t;
                        if (r >= top && r < end && within(row, h) && within(column, w)) {
                            to[(row * w + column) * c2] = pack(sums[p][i][t]);
                        }
                        sums[p][i][t] = make_float2(0, 0);
                    }
                }
            }
        }
    }
}

// The gradient of the weights over the walks of a block: partial is [blocks, c, K, K].
extern "C" __global__ void __launch_bounds__(128, K <= 3 ? 4 : K == 4 ? 3 : 2) depthwise_weight(
        const unsigned int* g, const unsigned int* x, float* partial, int walks, int tall,
        int h, int w, int oh, int ow, int c2) {
    __shared__ float totals[K * K * 2 * PAIRS];
    int lane = blockIdx.y * blockDim.x + threadIdx.x;
    float2 sums[K * K];
    #pragma unroll
    for (int i = 0; i < K * K; i++) sums[i] = make_float2(0, 0);
    for (int number = blockIdx.x * blockDim.y + threadIdx.y; number < walks; number += gridDim.x * blockDim.y) {
        Walk walk(number, oh, ow, WIDE, tall);
        const unsigned int* maps = x + walk.image * h * w * c2 + lane;
        const unsigned int* results = g + walk.image * oh * ow * c2 + lane;
        int left = walk.column * S - P;
        float2 window[K][SPAN]; // row a under row q of the results is window[(q·S + a) % K], counted from the walk's top
        unsigned int next[FRESH][SPAN], words[WIDE];
        #pragma unroll
        for (int a = 0; a < K - FRESH; a++) {
            read<SPAN>(next[0], maps, walk.top * S - P + a, h, left, w, c2);
            #pragma unroll
            for (int j = 0; j < SPAN; j++) window[a][j] = unpack(next[0][j]);
        }
        #pragma unroll
        for (int i = 0; i < FRESH; i++) read<SPAN>(next[i], maps, walk.top * S - P + K - FRESH + i, h, left, w, c2);
        read<WIDE>(words, results, walk.top, oh, walk.column, ow, c2);
        for (int step = walk.top; step < walk.end; step += K) {
            #pragma unroll
            for (int p = 0; p < K; p++) {
                int q = step + p;
                if (q >= walk.end) continue;
                float2 gradients[WIDE];
                #pragma unroll
                for (int t = 0; t < WIDE; t++) gradients[t] = unpack(words[t]);
                read<WIDE>(words, results, q + 1, oh, walk.column, ow, c2);
                #pragma unroll
                for (int i = 0; i < FRESH; i++) {
                    #pragma unroll
                    for (int j = 0; j < SPAN; j++) window[(p * S + K - FRESH + i) % K][j] = unpack(next[i][j]);
                    read<SPAN>(next[i], maps, (q + 1) * S - P + K - FRESH + i, h, left, w, c2);
                }
                #pragma unroll
                for (int a = 0; a < K; a++) {
                    #pragma unroll
                    for (int b = 0; b < K; b++) {
                        #pragma unroll
                        for (int t = 0; t < WIDE; t++) {
                            add(sums[a * K + b], window[(p * S + a) % K][t * S + b], gradients[t]);
                        }
                    }
                }
            }
        }
    }
    for (int i = 0; i < blockDim.y; i++) { // in a fixed order: the same bits every time
        if (threadIdx.y == i) {
            #pragma unroll
            for (int k = 0; k < K * K; k++) {
                float* of = totals + 2 * K * K * threadIdx.x + k;
                of[0] = i == 0 ? sums[k].x : of[0] + sums[k].x;
                of[K * K] = i == 0 ? sums[k].y : of[K * K] + sums[k].y;
            }
        }
        __syncthreads();
    }
    int count = K * K * 2 * blockDim.x;
    float* to = partial + ((long long) blockIdx.x * gridDim.y + blockIdx.y) * count;
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < count; i += blockDim.x * blockDim.y) to[i] = totals[i];
}
