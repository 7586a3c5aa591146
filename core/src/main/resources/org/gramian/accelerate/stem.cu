// Convolutions of bfloat16 maps with few channels, such as the images before the first layer of a network, by tensor cores;
// org.gramian.accelerate.StemKernels launches these. Maps have channels last, [n, h, w, C], filters are [N, KH, KW, C]. A block takes tiles of
// WIDE neighbouring results of a row, for which it keeps the rows of the maps in shared memory.
//
// Compiled for C channels, windows KH × KW, stride S, padding PH and PW, and N filters, 32 or 64.

typedef unsigned short bf16;

enum {
    TAPS = KH * KW * C,                        // values of a window, the inner dimension of the product
    DEPTH = TAPS / 32 * 32 + 32,               // the same, filled with zeros, of which there is at least one
    WIDE = 128,
    PITCH = ((WIDE - 1) * S + KW) * C,         // values of a row of the maps under a tile
    STEP = S * C,                              // values from a window to the next
    VECTORS = N / 8,                           // vectors of eight channels of a result
    GROUPS = DEPTH / 32,                       // warps that share the columns of the gradient of the filters
    PARTS = GROUPS == 1 ? 4 : 1,               // warps that share the positions of a tile for it
    THREADS = 32 * GROUPS * PARTS,             // of a block that computes it
    LANES = THREADS / VECTORS,                 // positions that it loads at a time
    ROUNDS = ((WIDE + LANES - 1) / LANES + 1) / 2 // until it has half of a tile
};

// d += a b for a [16, 16] and b [16, 8].
__device__ inline void multiply(float* d, const unsigned int* a, const unsigned int* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ inline unsigned int pair(bf16 low, bf16 high) { return low | (unsigned int) high << 16; }

__device__ inline unsigned int rounded(float low, float high) {
    unsigned int word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}

// Where a value of a window lies after the first in the rows of the maps; padding is multiplied by zeros, so any place will do.
__device__ inline int offset(int k) { return k < TAPS ? k / (KW * C) * PITCH + k % (KW * C) : 0; }

// The rows of the maps under a tile, in registers of T threads: loads of the next tile run while this one is computed.
template <int T> struct Rows {
    enum { COUNT = (KH * PITCH + T - 1) / T };
    bf16 values[COUNT];

    // Of the results of a line, image times oh plus row, from a column on; zeros beside the maps.
    __device__ inline void load(const bf16* __restrict__ x, int line, int from, int h, int w, int oh) {
        int top = line % oh * S - PH, left = (from * S - PW) * C, length = w * C;
        const bf16* first = x + ((long long) (line / oh) * h + top) * length + left;
        #pragma unroll
        for (int l = 0; l < COUNT; l++) {
            int i = threadIdx.x + l * T, row = i / PITCH, column = i % PITCH;
            bool inside = row < KH && (unsigned int) (top + row) < (unsigned int) h
                    && (unsigned int) (left + column) < (unsigned int) length;
            values[l] = inside ? first[row * length + column] : 0;
        }
    }

    __device__ inline void store(bf16* rows) {
        #pragma unroll
        for (int l = 0; l < COUNT; l++) {
            int i = threadIdx.x + l * T;
            if (i < KH * PITCH) rows[i] = values[l];
        }
    }
};

// out = min(max(x * filters + bias, low), high), [n, oh, ow, N]. The bias is bfloat16 if half is set, else float32, or null.
extern "C" __global__ void __launch_bounds__(128) stem(
        const bf16* __restrict__ x, const bf16* __restrict__ weight, const void* __restrict__ bias, int half,
        uint4* __restrict__ out, int tiles, int segments, int h, int w, int oh, int ow, float low, float high) {
    __shared__ bf16 rows[KH * PITCH];
    __shared__ __align__(16) bf16 filters[N][DEPTH + 8];
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, own = threadIdx.x % 4;
    // In an order in which a thread gets N / 4 neighbouring channels of a result.
    for (int i = threadIdx.x; i < N * DEPTH; i += blockDim.x) {
        int channel = i / DEPTH, k = i % DEPTH, rest = channel % (N / 4);
        filters[rest / 2 * 8 + channel / (N / 4) * 2 + rest % 2][k] = k < TAPS ? weight[channel * TAPS + k] : 0;
    }
    float offsets[N / 4];
    #pragma unroll
    for (int i = 0; i < N / 4; i++) {
        int channel = own * (N / 4) + i;
        offsets[i] = !bias ? 0 : half ? ::low(((const bf16*) bias)[channel]) : ((const float*) bias)[channel];
    }
    Rows<128> next;
    next.load(x, blockIdx.x / segments, blockIdx.x % segments * WIDE, h, w, oh);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int line = tile / segments, from = tile % segments * WIDE, then = tile + gridDim.x;
        __syncthreads();
        next.store(rows);
        __syncthreads();
        if (then < tiles) next.load(x, then / segments, then % segments * WIDE, h, w, oh);
        float sums[2][VECTORS][4] = {};
        #pragma unroll 2
        for (int depth = 0; depth < DEPTH; depth += 16) {
            unsigned int b[VECTORS][2];
            #pragma unroll
            for (int j = 0; j < VECTORS; j++) {
                const unsigned int* of = (const unsigned int*) &filters[j * 8 + group][depth + 2 * own];
                b[j][0] = of[0];
                b[j][1] = of[4];
            }
            int k = depth + 2 * own, first = offset(k), second = offset(k + 1), third = offset(k + 8), fourth = offset(k + 9);
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                const bf16* at = rows + (warp * 32 + i * 16 + group) * STEP;
                const bf16* below = at + 8 * STEP;
                unsigned int a[4] = {
                        pair(at[first], at[second]), pair(below[first], below[second]),
                        pair(at[third], at[fourth]), pair(below[third], below[fourth])};
                #pragma unroll
                for (int j = 0; j < VECTORS; j++) multiply(sums[i][j], a, b[j]);
            }
        }
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            int column = from + warp * 32 + i / 2 * 16 + i % 2 * 8 + group;
            if (column >= ow) continue;
            unsigned int words[VECTORS];
            #pragma unroll
            for (int j = 0; j < VECTORS; j++) {
                float p = sums[i / 2][j][i % 2 * 2] + offsets[2 * j], q = sums[i / 2][j][i % 2 * 2 + 1] + offsets[2 * j + 1];
                words[j] = rounded(p < low ? low : p > high ? high : p, q < low ? low : q > high ? high : q);
            }
            uint4* to = out + ((long long) line * ow + column) * VECTORS + own * (VECTORS / 4);
            #pragma unroll
            for (int v = 0; v < VECTORS / 4; v++) {
                to[v] = make_uint4(words[4 * v], words[4 * v + 1], words[4 * v + 2], words[4 * v + 3]);
            }
        }
    }
}

// Half of the gradient of the results of a tile, in registers: ROUNDS vectors of eight channels. Loads of the next tile run while this
// one is computed.
struct GradientTile {
    uint4 words[ROUNDS], gates[ROUNDS];

    __device__ inline void load(const uint4* __restrict__ g, const uint4* __restrict__ y, int line, int from, int ow, int first) {
        long long start = ((long long) line * ow + from) * VECTORS + threadIdx.x % VECTORS;
        #pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            int p = threadIdx.x / VECTORS + (first + i) * LANES;
            bool inside = p < WIDE && from + p < ow;
            words[i] = inside ? g[start + p * VECTORS] : make_uint4(0, 0, 0, 0);
            if (y) gates[i] = inside ? y[start + p * VECTORS] : make_uint4(0, 0, 0, 0);
        }
    }

    // Masks the gradient if there are gates, and stores it.
    __device__ inline void store(bf16 (*up)[N + 8], bool gated, int first, int bound) {
        #pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            int p = threadIdx.x / VECTORS + (first + i) * LANES;
            uint4 sum = words[i];
            if (gated) {
                sum.x &= between(gates[i].x, bound);
                sum.y &= between(gates[i].y, bound);
                sum.z &= between(gates[i].z, bound);
                sum.w &= between(gates[i].w, bound);
            }
            if (p < WIDE) *(uint4*) &up[p][8 * (threadIdx.x % VECTORS)] = sum;
        }
    }
};

// Where a matrix begins in shared memory, for ldmatrix.
__device__ inline unsigned int address(const void* shared) {
    unsigned long long at;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(at) : "l"(shared));
    return (unsigned int) at;
}

// The gradients of the filters, [N, TAPS], and then of the bias, [N], of the tiles of a block; partial is [blocks, N · TAPS + N]. The
// gradient of the results is g where 0 < y < bound, else 0. Without y nothing is masked. The bias is a filter of ones,
// the first of the columns that are filled in.
extern "C" __global__ void __launch_bounds__(THREADS, 3) stem_backward(
        const bf16* __restrict__ x, const uint4* __restrict__ g, const uint4* __restrict__ y, float* __restrict__ partial,
        int tiles, int segments, int h, int w, int oh, int ow, int bound) {
    __shared__ bf16 rows[KH * PITCH];
    __shared__ __align__(16) bf16 up[WIDE][N + 8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4, own = lane % 4;
    int part = warp / GROUPS, columns = warp % GROUPS * 32;
    int at[4];
    bool ones[4];
    #pragma unroll
    for (int t = 0; t < 4; t++) {
        at[t] = offset(columns + t * 8 + quad) + 2 * own * STEP;
        ones[t] = columns + t * 8 + quad == TAPS;
    }
    float sums[N / 16][4][4] = {};
    Rows<THREADS> next;
    GradientTile loaded;
    next.load(x, blockIdx.x / segments, blockIdx.x % segments * WIDE, h, w, oh);
    loaded.load(g, y, blockIdx.x / segments, blockIdx.x % segments * WIDE, ow, 0);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int line = tile / segments, from = tile % segments * WIDE, then = tile + gridDim.x;
        __syncthreads();
        next.store(rows);
        loaded.store(up, y, 0, bound);
        loaded.load(g, y, line, from, ow, ROUNDS);
        loaded.store(up, y, ROUNDS, bound);
        __syncthreads();
        if (then < tiles) {
            next.load(x, then / segments, then % segments * WIDE, h, w, oh);
            loaded.load(g, y, then / segments, then % segments * WIDE, ow, 0);
        }
        #pragma unroll 2
        for (int p = part * (WIDE / PARTS); p < (part + 1) * (WIDE / PARTS); p += 16) {
            unsigned int b[4][2];
            #pragma unroll
            for (int t = 0; t < 4; t++) {
                const bf16* window = rows + at[t] + p * STEP;
                b[t][0] = ones[t] ? 0x3f803f80u : pair(window[0], window[STEP]);
                b[t][1] = ones[t] ? 0x3f803f80u : pair(window[8 * STEP], window[9 * STEP]);
            }
            #pragma unroll
            for (int m = 0; m < N / 16; m++) {
                unsigned int a[4]; // channels by positions
                asm volatile(
                        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                        : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                        : "r"(address(&up[p + lane / 16 * 8 + lane % 8][m * 16 + lane / 8 % 2 * 8])));
                #pragma unroll
                for (int t = 0; t < 4; t++) multiply(sums[m][t], a, b[t]);
            }
        }
    }
    // All sums in a fixed order: the same bits every time.
    float* result = partial + (long long) blockIdx.x * (N * TAPS + N);
    float* total = (float*) up;
    for (int each = 0; each < PARTS; each++) {
        __syncthreads();
        if (part != each) continue;
        #pragma unroll
        for (int i = 0; i < N / 16 * 4 * 4; i++) {
            int m = i / 16, t = i / 4 % 4, e = i % 4;
            int channel = m * 16 + e / 2 * 8 + quad, k = columns + t * 8 + 2 * own + e % 2;
            if (PARTS > 1) {
                total[channel * DEPTH + k] = sums[m][t][e] + (each > 0 ? total[channel * DEPTH + k] : 0);
            } else if (k <= TAPS) {
                result[k < TAPS ? channel * TAPS + k : N * TAPS + channel] = sums[m][t][e];
            }
        }
    }
    if (PARTS == 1) return;
    __syncthreads();
    for (int i = threadIdx.x; i < N * TAPS; i += THREADS) result[i] = total[i / TAPS * DEPTH + i % TAPS];
    for (int channel = threadIdx.x; channel < N; channel += THREADS) result[N * TAPS + channel] = total[channel * DEPTH + TAPS];
}
