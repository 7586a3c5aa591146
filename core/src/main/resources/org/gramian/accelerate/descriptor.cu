// rbf/spd/relu/triu/root/l2 with float16 matrices; org.gramian.accelerate.GpuDescriptor launches these. Centred maps, their
// squared distances, K, Y, E = dL/dY and dL/dK are float16 and stored as 16-bit words: NVRTC has no header for the type.
// Sums are float32. Rows of matrices are multiples of 8, so that a thread reads 8 elements in one access.

typedef unsigned short half_t;

// Blocks that share an image, each with rows of it: one lane of a warp adds up one of their sums.
#define PARTS 32

#define WARPS 8 // of a block, each with one row at a time

__device__ float to_float(half_t h) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}

__device__ half_t to_half(float f) {
    half_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}

__device__ unsigned int to_halves(float low, float high) {
    return (unsigned int) to_half(low) | (unsigned int) to_half(high) << 16;
}

__device__ void unpack_halves(uint4 words, float* values) {
    values[0] = to_float(words.x & 0xffffu);
    values[1] = to_float(words.x >> 16);
    values[2] = to_float(words.y & 0xffffu);
    values[3] = to_float(words.y >> 16);
    values[4] = to_float(words.z & 0xffffu);
    values[5] = to_float(words.z >> 16);
    values[6] = to_float(words.w & 0xffffu);
    values[7] = to_float(words.w >> 16);
}

__device__ uint4 packed(const float* values) {
    return make_uint4(
            to_halves(values[0], values[1]),
            to_halves(values[2], values[3]),
            to_halves(values[4], values[5]),
            to_halves(values[6], values[7]));
}

// The power of two that brings a positive bound to at most the largest, between 2^-60 and 2^60; 1 for a bound of 0.
__device__ float power_of_two(float largest, float bound) {
    float exponent = floorf(log2f(largest / bound));
    exponent = exponent > 60 ? 60 : exponent < -60 ? -60 : exponent;
    return bound == 0 ? 1 : exp2f(exponent); // NaN stays NaN
}

// A map's value with a bias, at least the least: bias and ReLU of the convolution before, or neither.
__device__ float activated(float value, float bias, float least) {
    value += bias;
    return value < least ? least : value; // NaN stays NaN
}

#define MINUS_INFINITY __int_as_float(0xff800000)

// Means over the maps, and of each block the largest difference between two maps at one position. A block of 32 x 32
// threads has 32 positions of one image, 32 maps at a time.
extern "C" __global__ void means(
        const float* maps, const float* bias, float* mean, float* ranges, int channels, int positions) {
    __shared__ float sums[32][33], highest[32][33], lowest[32][33], range_of[32];
    int x = threadIdx.x, y = threadIdx.y, p = blockIdx.x * 32 + x;
    const float* from = maps + (long long) blockIdx.y * channels * positions;
    float sum = 0, high = MINUS_INFINITY, low = -MINUS_INFINITY, least = bias ? 0 : MINUS_INFINITY;
    if (p < positions) {
        #pragma unroll 8
        for (int c = y; c < channels; c += 32) {
            float value = activated(from[(long long) c * positions + p], bias ? bias[c] : 0, least);
            sum += value;
            high = fmaxf(high, value);
            low = fminf(low, value);
        }
    }
    sums[y][x] = sum;
    highest[y][x] = high;
    lowest[y][x] = low;
    __syncthreads();
    p = blockIdx.x * 32 + y; // a position to a warp
    sum = warp_sum(sums[x][y]);
    float range = warp_max(highest[x][y]) + warp_max(-lowest[x][y]);
    if (x == 0) {
        if (p < positions) mean[(long long) blockIdx.y * positions + p] = sum / channels;
        range_of[y] = p < positions ? range + 0 * sum : 0; // NaN, which maxima ignore, is in the sum
    }
    __syncthreads();
    if (y == 0) {
        range = warp_max(range_of[x]);
        if (x == 0) ranges[blockIdx.y * gridDim.x + blockIdx.x] = range;
    }
}

// Elements 8 j to 8 j + 7 of a row, 0 after its end.
__device__ void load(const float* row, int count, int j, float* values) {
    const float4 zero = make_float4(0, 0, 0, 0);
    if (count % 4 == 0) { // rows begin at multiples of 16 bytes
        float4 a = 8 * j < count ? *(const float4*) (row + 8 * j) : zero;
        float4 b = 8 * j + 4 < count ? *(const float4*) (row + 8 * j + 4) : zero;
        values[0] = a.x, values[1] = a.y, values[2] = a.z, values[3] = a.w;
        values[4] = b.x, values[5] = b.y, values[6] = b.z, values[7] = b.w;
    } else {
        #pragma unroll
        for (int e = 0; e < 8; e++) values[e] = 8 * j + e < count ? row[8 * j + e] : 0;
    }
}

// Maps minus their mean, times a power of two such that no two maps differ by more than the largest at a position, with
// columns such that -2 left right' is D: left = [X, 0, -q, 1, 1] and right = [X, 0, 1, 1, -q], where q = keep s / 2 as two
// float16 numbers and s is the squared norm. A bit of positive for each positive element. A map to a warp.
extern "C" __global__ void centred(
        const float* maps, const float* bias, const float* means, const float* ranges, uint4* left, uint4* right,
        unsigned char* positive, float* scales, int images, int channels, int positions, int padded, float keep,
        float largest) {
    int map = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (map >= images * channels) return;
    int image = map / channels, channel = map % channels, words = padded / 8, blocks = (positions + 31) / 32;
    float range = 0;
    for (int k = lane; k < blocks; k += 32) range = larger(ranges[image * blocks + k], range);
    float scale = power_of_two(largest, warp_max(range));
    if (channel == 0 && lane == 0) scales[image] = scale;
    const float* from = maps + (long long) map * positions;
    const float* mean = means + (long long) image * positions;
    long long row = (long long) map * words;
    float b = bias ? bias[channel] : 0, least = bias ? 0 : MINUS_INFINITY;
    float values[8], norm = 0;
    for (int j = lane; j < words; j += 32) {
        float of_mean[8];
        load(from, positions, j, values);
        load(mean, positions, j, of_mean);
        unsigned int bits = 0;
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            float value = activated(values[e], b, least);
            bool inside = 8 * j + e < positions;
            bits |= (inside && value > 0) << e;
            values[e] = inside ? (value - of_mean[e]) * scale : 0;
        }
        if (bias) positive[row + j] = bits;
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            values[e] = to_float(to_half(values[e]));
            norm += values[e] * values[e];
        }
        if (j < words - 1) left[row + j] = right[row + j] = packed(values);
    }
    norm = -0.5f * keep * warp_sum(norm);
    if (lane == (words - 1) % 32) {
        float high = to_float(to_half(norm)), low = norm - high;
        values[4] = high;
        values[5] = low;
        values[6] = values[7] = 1;
        left[row + words - 1] = packed(values);
        values[4] = values[5] = 1;
        values[6] = high;
        values[7] = low;
        right[row + words - 1] = packed(values);
    }
}

// Sums of the distances above the diagonal, 8 rows to a block, one to a warp.
extern "C" __global__ void distances(const half_t* d, float* parts, int channels) {
    __shared__ float sums[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * WARPS + warp;
    float sum = 0;
    if (i < channels) {
        const uint4* row = (const uint4*) (d + ((long long) blockIdx.y * channels + i) * channels);
        for (int j = i / 8 + lane; j < channels / 8; j += 32) {
            float values[8];
            unpack_halves(row[j], values);
            #pragma unroll
            for (int e = 0; e < 8; e++) {
                float root = values[e] * rsqrtf(values[e]);
                root = values[e] > 0 ? root : values[e] * 0; // NaN stays NaN
                sum += 8 * j + e > i ? root : 0;
            }
        }
    }
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < WARPS; k++) sum += sums[k];
        parts[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

// -1/(2 sigma^2) for distances of scaled maps, in all threads of a warp: a given one, or sigma is the mean distance, at least
// the smallest; parts has the sums of the distances of its blocks.
__device__ float factor_of(
        const float* parts, int count, float pairs, const float* given, float scale, float smallest) {
    if (given) return given[0] / scale / scale;
    float sum = 0;
    for (int k = threadIdx.x % 32; k < count; k += 32) sum += parts[k];
    float sigma = warp_sum(sum) / pairs;
    sigma = sigma < smallest * scale ? smallest * scale : sigma;
    return -0.5f / sigma / sigma;
}

// K = exp(factor D) in the memory of D, 1 + jitter on the diagonal, and the factors of the images. A row to a warp.
extern "C" __global__ void gaussian(
        uint4* d, const float* scales, const float* parts, const float* given, float* factor, int channels, float pairs,
        float smallest, float diagonal_value) {
    int i = blockIdx.x * WARPS + threadIdx.x / 32, image = blockIdx.y, count = gridDim.x;
    if (i >= channels) return;
    uint4* row = d + ((long long) image * channels + i) * (channels / 8);
    float f = factor_of(parts + image * count, count, pairs, given, scales[image], smallest);
    if (i == 0 && threadIdx.x == 0) factor[image] = f;
    for (int j = threadIdx.x % 32; j < channels / 8; j += 32) {
        float values[8];
        unpack_halves(row[j], values);
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            float value = __expf(f * (values[e] < 0 ? 0 : values[e])); // NaN stays NaN
            values[e] = i == 8 * j + e ? diagonal_value : value;
        }
        row[j] = packed(values);
    }
}

// Element (i, j) of the vector: the triangle of relu(Y), off-diagonal elements times sqrt(2).
__device__ float element(float y, int i, int j) {
    return (y < 0 ? 0 : y) * (i == j ? 1.0f : 1.41421356237309505f); // NaN stays NaN
}

// v / (sqrt(v + e) + sqrt(e)).
__device__ float root(float v, float epsilon, float root_epsilon) {
    float shifted = v + epsilon;
    return __fdividef(v, shifted * rsqrtf(shifted) + root_epsilon);
}

__device__ long long start(int i, int size) {
    return (long long) i * size - (long long) i * (i - 1) / 2 - i; // of row i, less the i elements below the diagonal
}

// Norm of an image, at least the smallest, in all threads of a warp; parts has the sums of squares of its blocks.
__device__ float norm_of(const float* parts, int image, float smallest) {
    float norm = sqrtf(warp_sum(parts[image * PARTS + threadIdx.x % 32]));
    return norm < smallest ? smallest : norm;
}

// Sums of the squares of roots in a share of the rows of an image.
extern "C" __global__ void squares(const half_t* y, float* parts, int size, float epsilon, float root_epsilon) {
    __shared__ float sums[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = blockIdx.x * WARPS + warp; i < size; i += PARTS * WARPS) {
        const uint4* row = (const uint4*) (y + ((long long) blockIdx.y * size + i) * size);
        for (int j = i / 8 + lane; j < size / 8; j += 32) {
            float values[8];
            unpack_halves(row[j], values);
            #pragma unroll
            for (int e = 0; e < 8; e++) {
                int column = 8 * j + e;
                float r = root(element(values[e], i, column), epsilon, root_epsilon);
                sum += column < i ? 0 : r * r;
            }
        }
    }
    sum = warp_sum(sum);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < WARPS; k++) sum += sums[k];
        parts[blockIdx.y * PARTS + blockIdx.x] = sum;
    }
}

// u = roots / norm.
extern "C" __global__ void unit_vectors(
        const half_t* __restrict__ y, const float* parts, float* __restrict__ u, int size, long long length,
        float epsilon, float root_epsilon, float smallest) {
    float scale = 1 / norm_of(parts, blockIdx.y, smallest);
    for (int i = blockIdx.x * WARPS + threadIdx.x / 32; i < size; i += PARTS * WARPS) {
        const half_t* row = y + ((long long) blockIdx.y * size + i) * size;
        float* to = u + blockIdx.y * length + start(i, size);
        for (int first = i + threadIdx.x % 32; first < size; first += 128) {
            float values[4]; // all loads come before the first store
            #pragma unroll
            for (int k = 0; k < 4; k++) values[k] = first + 32 * k < size ? to_float(row[first + 32 * k]) : 0;
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                int j = first + 32 * k;
                float r = root(element(values[k], i, j), epsilon, root_epsilon);
                if (j < size) to[j] = r * scale;
            }
        }
    }
}

// Norm and unit vector of a small matrix. A block of PARTS warps to an image; parts gets the sums of the warps.
extern "C" __global__ void small_unit_vectors(
        const half_t* __restrict__ y, float* parts, float* __restrict__ u, int size, long long length, float epsilon,
        float root_epsilon, float smallest) {
    __shared__ float sums[PARTS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, image = blockIdx.x;
    const half_t* matrix = y + (long long) image * size * size;
    float sum = 0;
    for (int i = warp; i < size; i += PARTS)
        for (int j = i + lane; j < size; j += 32) {
            float r = root(element(to_float(matrix[(long long) i * size + j]), i, j), epsilon, root_epsilon);
            sum += r * r;
        }
    sum = warp_sum(sum);
    if (lane == 0) parts[image * PARTS + warp] = sums[warp] = sum;
    __syncthreads();
    float norm = sqrtf(warp_sum(sums[lane]));
    float scale = 1 / (norm < smallest ? smallest : norm);
    for (int i = warp; i < size; i += PARTS) {
        float* to = u + image * length + start(i, size);
        for (int j = i + lane; j < size; j += 32)
            to[j] = root(element(to_float(matrix[(long long) i * size + j]), i, j), epsilon, root_epsilon) * scale;
    }
}

// Sums of roots o g and maxima of |g| in a share of the rows of an image.
extern "C" __global__ void along(
        const half_t* y, const float* g, float* sums, float* maxima, int size, long long length, float epsilon,
        float root_epsilon) {
    __shared__ float sum_of[WARPS], maximum_of[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0, largest = 0;
    for (int i = blockIdx.x * WARPS + warp; i < size; i += PARTS * WARPS) {
        const half_t* row = y + ((long long) blockIdx.y * size + i) * size;
        const float* from = g + blockIdx.y * length + start(i, size);
        #pragma unroll 4
        for (int j = i + lane; j < size; j += 32) {
            float gk = from[j];
            sum += root(element(to_float(row[j]), i, j), epsilon, root_epsilon) * gk;
            largest = larger(fabsf(gk), largest);
        }
    }
    sum = warp_sum(sum);
    largest = warp_max(largest);
    if (lane == 0) {
        sum_of[warp] = sum;
        maximum_of[warp] = largest;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < WARPS; k++) {
            sum += sum_of[k];
            largest = larger(maximum_of[k], largest);
        }
        sums[blockIdx.y * PARTS + blockIdx.x] = sum;
        maxima[blockIdx.y * PARTS + blockIdx.x] = largest;
    }
}

// dots = u'g of the images, and the power of two that brings every |E| below most:
// |E| <= (max|g| + |dot|) / (2 norm sqrt(e)). One block of 1024, an image to a warp.
extern "C" __global__ void scale_of_gradient(
        const float* parts, const float* sums, const float* maxima, float* dots, float* scale, int images,
        float root_epsilon, float smallest, float most) {
    __shared__ float bounds[32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float bound = 0;
    for (int n = warp; n < images; n += 32) {
        float norm = norm_of(parts, n, smallest);
        float dot = warp_sum(sums[n * PARTS + lane]) / norm;
        float largest = warp_max(maxima[n * PARTS + lane]);
        if (lane == 0) dots[n] = dot;
        bound = larger((largest + fabsf(dot)) / (2 * norm * root_epsilon), bound);
    }
    if (lane == 0) bounds[warp] = bound;
    __syncthreads();
    if (warp == 0) {
        bound = warp_max(bounds[lane]);
        float exponent = floorf(log2f(most / bound));
        exponent = exponent > 100 ? 100 : exponent < -100 ? -100 : exponent;
        if (lane == 0) scale[0] = bound > 0 ? exp2f(exponent) : bound * 0 + 1; // NaN stays NaN
    }
}

// E = scale dL/dY, symmetric: both triangles of a tile at once, 32 x 8 threads to a block of tiles a <= b. All loads of a
// thread come before its first store.
extern "C" __global__ void matrix_gradient(
        const half_t* __restrict__ y, const float* __restrict__ g, const float* parts, const float* dots,
        const float* scale, half_t* __restrict__ e, int size, long long length, float epsilon, float root_epsilon,
        float smallest) {
    __shared__ float tile[32][33];
    int a = blockIdx.x, b = blockIdx.y;
    if (a > b) return;
    long long matrix = (long long) blockIdx.z * size * size;
    int j = b * 32 + threadIdx.x;
    float upstream[4], elements[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = a * 32 + threadIdx.y + 8 * k;
        bool inside = i <= j && j < size;
        upstream[k] = inside ? g[blockIdx.z * length + start(i, size) + j] : 0;
        elements[k] = inside ? to_float(y[matrix + (long long) i * size + j]) : 0;
    }
    float norm = norm_of(parts, blockIdx.z, smallest);
    float factor = scale[0] * 0.5f / norm, dot = dots[blockIdx.z] / norm;
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = a * 32 + threadIdx.y + 8 * k;
        float v = element(elements[k], i, j);
        float value = (upstream[k] - root(v, epsilon, root_epsilon) * dot) * factor * rsqrtf(v + epsilon);
        value = v > 0 ? value : v * 0 + 0 * upstream[k]; // NaN stays NaN
        if (i != j) value *= 0.70710678118654752f;
        if (i <= j && j < size) e[matrix + (long long) i * size + j] = to_half(value);
        tile[threadIdx.y + 8 * k][threadIdx.x] = value;
    }
    __syncthreads();
    #pragma unroll
    for (int k = threadIdx.y; k < 32; k += 8) {
        int i = b * 32 + k, j = a * 32 + threadIdx.x;
        if (i < size && j < i) e[matrix + (long long) i * size + j] = to_half(tile[threadIdx.x][k]);
    }
}

// L = P - diag(rowsum(P)) with P = dL/dK o K, 0 on the diagonal, each row times a power of two such that no element of LX
// overflows; X has elements up to the largest. multipliers times LX is dL/dM: dL/dK = WEW' is symmetric up to rounding.
// Row sums are those of the rounded elements, so that equal maps cancel. A row to a warp.
extern "C" __global__ void laplacian(
        const uint4* __restrict__ g, const uint4* __restrict__ k, const float* factor, const float* scales,
        const float* scale, uint4* __restrict__ l, float* multipliers, int channels, float largest) {
    int i = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= channels) return;
    long long map = (long long) blockIdx.y * channels + i;
    long long row = map * (channels / 8);
    float gradients[8], kernels[8], sum = 0;
    #pragma unroll 2
    for (int j = lane; j < channels / 8; j += 32) {
        unpack_halves(g[row + j], gradients);
        unpack_halves(k[row + j], kernels);
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            float value = fabsf(kernels[e] * gradients[e]);
            sum += i == 8 * j + e ? 0 : value;
        }
    }
    float r = power_of_two(16384 / largest, warp_sum(sum));
    sum = 0;
    int last = i / 8; // the word of the diagonal, written when the sum is known
    float diagonal[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    #pragma unroll 2
    for (int j = lane; j < channels / 8; j += 32) {
        unpack_halves(g[row + j], gradients);
        unpack_halves(k[row + j], kernels);
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            float value = to_float(to_half(r * kernels[e] * gradients[e]));
            gradients[e] = i == 8 * j + e ? 0 : value;
            sum += gradients[e];
            diagonal[e] = j == last ? gradients[e] : diagonal[e];
        }
        if (j != last) l[row + j] = packed(gradients);
    }
    sum = warp_sum(sum);
    if (lane == last % 32) {
        #pragma unroll
        for (int e = 0; e < 8; e++) diagonal[e] = i % 8 == e ? -sum : diagonal[e];
        l[row + last] = packed(diagonal);
    }
    if (lane == 0) multipliers[map] = -4 * factor[blockIdx.y] * scales[blockIdx.y] / scale[0] / r;
}

// dL/dM = multipliers o LX; if bits of positive elements are given, 0 where they are not set, and its sum over each map, as
// [n, C]. Elements of successive images are image_stride apart in dL/dM. A map to a warp.
extern "C" __global__ void maps_gradient(
        const uint2* lx, const float* multipliers, const unsigned char* positive, float* out, float* sums, int images,
        int channels, int positions, int padded, long long image_stride, long long channel_stride) {
    int map = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (map >= images * channels) return;
    int image = map / channels, channel = map % channels;
    long long row = (long long) map * (padded / 4);
    float* to = out + image * image_stride + channel * channel_stride;
    float multiplier = multipliers[map], sum = 0;
    for (int j = lane; 4 * j < positions; j += 32) {
        unsigned int bits = positive ? positive[(row + j) / 2] >> j % 2 * 4 : 0xf;
        uint2 words = lx[row + j];
        float values[4] = {
            to_float(words.x & 0xffffu), to_float(words.x >> 16), to_float(words.y & 0xffffu), to_float(words.y >> 16)};
        #pragma unroll
        for (int e = 0; e < 4; e++) {
            values[e] = bits >> e & 1 && 4 * j + e < positions ? multiplier * values[e] : 0;
            sum += values[e];
        }
        if (positions % 4 == 0) { // rows begin at multiples of 16 bytes
            ((float4*) to)[j] = make_float4(values[0], values[1], values[2], values[3]);
        } else {
            #pragma unroll
            for (int e = 0; e < 4; e++)
                if (4 * j + e < positions) to[4 * j + e] = values[e];
        }
    }
    sum = warp_sum(sum);
    if (sums && lane == 0) sums[map] = sum;
}

// out = float(h) factor / scale.
extern "C" __global__ void unscaled(const half_t* h, const float* scale, float* out, float factor, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = to_float(h[i]) * factor / scale[0];
}
