// rbf/spd/relu/triu/root/l2 with float16 matrices; org.gramian.spd.HalfPrecisionSpd launches these. K, Y, E = dL/dY and
// dL/dK are float16 and stored as 16-bit words: NVRTC has no header for the type. Sums are float32. Sizes of matrices are
// multiples of 8, so that a thread reads 8 elements in one access.

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

__device__ void unpack(uint4 words, float* values) {
    values[0] = to_float(words.x & 0xffffu);
    values[1] = to_float(words.x >> 16);
    values[2] = to_float(words.y & 0xffffu);
    values[3] = to_float(words.y >> 16);
    values[4] = to_float(words.z & 0xffffu);
    values[5] = to_float(words.z >> 16);
    values[6] = to_float(words.w & 0xffffu);
    values[7] = to_float(words.w >> 16);
}

// Sum over a warp, in all of its threads.
__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
    return value;
}

__device__ float larger(float a, float b) {
    return a != a || a > b ? a : b; // NaN stays NaN
}

// Maximum over a warp, in all of its threads.
__device__ float warp_max(float value) {
    for (int offset = 16; offset > 0; offset /= 2) value = larger(value, __shfl_xor_sync(0xffffffff, value, offset));
    return value;
}

__device__ float relu(float value) {
    return value < 0 ? 0 : value; // NaN stays NaN
}

// X = max(M + b, 0) minus its mean over the maps, and a bit for each element of M + b that is positive. A block has 32
// positions of one image, 16 maps at a time, one to a warp.
extern "C" __global__ void centre_relu(
        const float* maps, const float* bias, float* x, unsigned int* positive, int channels, int positions) {
    __shared__ float sums[16][33];
    int p = blockIdx.x * 32 + threadIdx.x;
    const float* from = maps + (long long) blockIdx.y * channels * positions;
    float* to = x + (long long) blockIdx.y * channels * positions;
    float sum = 0;
    if (p < positions)
        for (int c = threadIdx.y; c < channels; c += 16) sum += relu(from[(long long) c * positions + p] + bias[c]);
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int k = 1; k < 16; k++) sum += sums[k][threadIdx.x];
        sums[0][threadIdx.x] = sum / channels;
    }
    __syncthreads();
    float mean = sums[0][threadIdx.x];
    for (int c = threadIdx.y; c < channels; c += 16) {
        float value = p < positions ? from[(long long) c * positions + p] + bias[c] : 0;
        unsigned int bits = __ballot_sync(0xffffffff, value > 0);
        if (p < positions) to[(long long) c * positions + p] = relu(value) - mean;
        if (threadIdx.x == 0) positive[((long long) blockIdx.y * channels + c) * gridDim.x + blockIdx.x] = bits;
    }
}

// K = exp(factor D), 1 + jitter on the diagonal, from the Gram matrix and its diagonal. A row to a warp.
extern "C" __global__ void gaussian(
        const float* g, const float* s, const float* factor, uint4* k, int channels, float keep, float diagonal_value) {
    int i = blockIdx.x * WARPS + threadIdx.x / 32;
    if (i >= channels) return;
    const float* norms = s + (long long) blockIdx.y * channels;
    long long row = ((long long) blockIdx.y * channels + i) * channels;
    float f = factor[blockIdx.y], si = norms[i];
    for (int j = threadIdx.x % 32 * 8; j < channels; j += 256) {
        float4 a = *(const float4*) (g + row + j), b = *(const float4*) (g + row + j + 4);
        float4 c = *(const float4*) (norms + j), d = *(const float4*) (norms + j + 4);
        float products[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
        float sj[8] = {c.x, c.y, c.z, c.w, d.x, d.y, d.z, d.w};
        float values[8];
        for (int e = 0; e < 8; e++) {
            float distance = keep * (si + sj[e]) - 2 * products[e];
            values[e] = i == j + e ? diagonal_value : __expf(f * (distance < 0 ? 0 : distance)); // NaN stays NaN
        }
        k[(row + j) / 8] = make_uint4(
                to_halves(values[0], values[1]),
                to_halves(values[2], values[3]),
                to_halves(values[4], values[5]),
                to_halves(values[6], values[7]));
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
            unpack(row[j], values);
            for (int e = 0; e < 8; e++) {
                int column = 8 * j + e;
                float r = column < i ? 0 : root(element(values[e], i, column), epsilon, root_epsilon);
                sum += r * r;
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
        const half_t* y, const float* parts, float* u, int size, long long length, float epsilon, float root_epsilon,
        float smallest) {
    float scale = 1 / norm_of(parts, blockIdx.y, smallest);
    for (int i = blockIdx.x * WARPS + threadIdx.x / 32; i < size; i += PARTS * WARPS) {
        const half_t* row = y + ((long long) blockIdx.y * size + i) * size;
        float* to = u + blockIdx.y * length + start(i, size);
        #pragma unroll 4
        for (int j = i + threadIdx.x % 32; j < size; j += 32)
            to[j] = root(element(to_float(row[j]), i, j), epsilon, root_epsilon) * scale;
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

// E = scale dL/dY, symmetric: both triangles of a tile at once, 32 x 8 threads to a block of tiles a <= b.
extern "C" __global__ void matrix_gradient(
        const half_t* y, const float* g, const float* parts, const float* dots, const float* scale, half_t* e, int size,
        long long length, float epsilon, float root_epsilon, float smallest) {
    __shared__ float tile[32][33];
    int a = blockIdx.x, b = blockIdx.y;
    if (a > b) return;
    long long matrix = (long long) blockIdx.z * size * size;
    float norm = norm_of(parts, blockIdx.z, smallest);
    float factor = scale[0] * 0.5f / norm, dot = dots[blockIdx.z] / norm;
    #pragma unroll
    for (int k = threadIdx.y; k < 32; k += 8) {
        int i = a * 32 + k, j = b * 32 + threadIdx.x;
        float value = 0;
        if (i <= j && j < size) {
            float upstream = g[blockIdx.z * length + start(i, size) + j];
            float v = element(to_float(y[matrix + (long long) i * size + j]), i, j);
            value = v > 0
                    ? (upstream - root(v, epsilon, root_epsilon) * dot) * factor * rsqrtf(v + epsilon)
                    : v * 0 + 0 * upstream; // NaN stays NaN
            if (i != j) value *= 0.70710678118654752f;
            e[matrix + (long long) i * size + j] = to_half(value);
        }
        tile[k][threadIdx.x] = value;
    }
    __syncthreads();
    #pragma unroll
    for (int k = threadIdx.y; k < 32; k += 8) {
        int i = b * 32 + k, j = a * 32 + threadIdx.x;
        if (i < size && j < i) e[matrix + (long long) i * size + j] = to_half(tile[threadIdx.x][k]);
    }
}

// T = 2 factor / scale dL/dK o K, 0 on the diagonal, and the sums of its rows. dL/dK = WEW' is symmetric up to rounding,
// so T is dL/dD + (dL/dD)'. A row to a warp.
extern "C" __global__ void distance_gradient(
        const uint4* g, const uint4* k, const float* factor, const float* scale, float4* t, float* row_sums,
        int channels) {
    int i = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= channels) return;
    long long map = (long long) blockIdx.y * channels + i;
    long long row = map * (channels / 8);
    float f = 2 * factor[blockIdx.y] / scale[0];
    float sum = 0;
    #pragma unroll 2
    for (int j = lane; j < channels / 8; j += 32) {
        float gradients[8], kernels[8];
        unpack(g[row + j], gradients);
        unpack(k[row + j], kernels);
        for (int e = 0; e < 8; e++) {
            gradients[e] = i == 8 * j + e ? 0 : f * kernels[e] * gradients[e];
            sum += gradients[e];
        }
        t[2 * (row + j)] = make_float4(gradients[0], gradients[1], gradients[2], gradients[3]);
        t[2 * (row + j) + 1] = make_float4(gradients[4], gradients[5], gradients[6], gradients[7]);
    }
    sum = warp_sum(sum);
    if (lane == 0) row_sums[map] = sum;
}

// dL/dM = 2 (rowsum(T) o X - TX) where M + b is positive, else 0, as [C, n, N]; and its sum over each map, as [n, C]. A
// map to a warp.
extern "C" __global__ void maps_gradient_relu(
        const float* tx, const float* x, const float* row_sums, const unsigned int* positive, float* out, float* sums,
        int images, int channels, int positions) {
    int map = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (map >= images * channels) return;
    int image = map / channels, channel = map % channels, words = (positions + 31) / 32;
    long long from = (long long) map * positions;
    float* to = out + ((long long) channel * images + image) * positions;
    const unsigned int* bits = positive + (long long) map * words;
    float row_sum = row_sums[map], sum = 0;
    #pragma unroll 4
    for (int p = lane; p < positions; p += 32) {
        float value = bits[p / 32] >> lane & 1 ? 2 * (row_sum * x[from + p] - tx[from + p]) : 0;
        to[p] = value;
        sum += value;
    }
    sum = warp_sum(sum);
    if (lane == 0) sums[map] = sum;
}

// out = float(h) factor / scale.
extern "C" __global__ void unscaled(const half_t* h, const float* scale, float* out, float factor, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = to_float(h[i]) * factor / scale[0];
}
