// Layer norm of rows of bfloat16: org.gramian.accelerate.FusedTokens launches these. Compiled for VECTORS, the vectors of
// four bfloat16 elements that a lane holds. A warp takes a row and keeps it in registers: one pass over memory.

enum { WARP = 32, WARPS = 8 };

typedef uint2 Vector;

__device__ inline void unpack(Vector words, float* values) {
    values[0] = low(words.x); values[1] = high(words.x);
    values[2] = low(words.y); values[3] = high(words.y);
}

__device__ inline Vector vector(const float* values) {
    return make_uint2(rounded(values[0]) | rounded(values[1]) << 16, rounded(values[2]) | rounded(values[3]) << 16);
}

// y = gamma (x - mean) inverse + beta of rows of 4·width elements, and mean and inverse = 1 / sqrt(variance + epsilon) of each row.
// With a branch, x + branch is normalized and stored in sum. A block of WARP × WARPS threads takes WARPS rows.
extern "C" __global__ void layer_norm(
        const Vector* x, const Vector* branch, Vector* sum, const float4* gamma, const float4* beta, Vector* y, float* means,
        float* inverses, int rows, int width, float epsilon) {
    int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    long long first = (long long) row * width;
    float values[VECTORS][4];
    float total = 0;
    #pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        int at = threadIdx.x + i * WARP;
        Vector words = {};
        if (at < width) words = x[first + at];
        unpack(words, values[i]);
    }
    if (branch) {
        #pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            int at = threadIdx.x + i * WARP;
            if (at < width) {
                float other[4];
                unpack(branch[first + at], other);
                for (int k = 0; k < 4; k++) values[i][k] += other[k];
                Vector words = vector(values[i]);
                sum[first + at] = words;
                unpack(words, values[i]);
            }
        }
    }
    #pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        for (int k = 0; k < 4; k++) total += values[i][k];
    }
    float mean = warp_sum(total) / (4 * width);
    float squares = 0;
    #pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        if (threadIdx.x + i * WARP < width) {
            for (int k = 0; k < 4; k++) squares += (values[i][k] - mean) * (values[i][k] - mean);
        }
    }
    float inverse = 1 / sqrtf(warp_sum(squares) / (4 * width) + epsilon);
    #pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        int at = threadIdx.x + i * WARP;
        if (at < width) {
            float4 scale = gamma[at], offset = beta[at];
            float out[4] = {
                    scale.x * (values[i][0] - mean) * inverse + offset.x, scale.y * (values[i][1] - mean) * inverse + offset.y,
                    scale.z * (values[i][2] - mean) * inverse + offset.z, scale.w * (values[i][3] - mean) * inverse + offset.w};
            y[first + at] = vector(out);
        }
    }
    if (threadIdx.x == 0) {
        means[row] = mean;
        inverses[row] = inverse;
    }
}

// With n = (x - mean) inverse: dx = (g gamma - mean(g gamma) - n mean(g gamma n)) inverse, and the sums of g n and of g over
// the rows of a block: partial is [blocks, 2, 4·width]. A warp takes every so many rows.
extern "C" __global__ void layer_norm_backward(
        const Vector* g, const Vector* x, const float4* gamma, const float* means, const float* inverses, Vector* dx,
         float4* partial, int rows, int width) {
    __shared__ float4 sums[WARPS][WARP];
    float scale[VECTORS][4], ofGamma[VECTORS][4], ofBeta[VECTORS][4];
    #pragma unroll
    for (int i = 0; i < VECTORS; i++) {
        int at = threadIdx.x + i * WARP;
        float4 words = make_float4(0, 0, 0, 0);
        if (at < width) words = gamma[at];
        scale[i][0] = words.x; scale[i][1] = words.y; scale[i][2] = words.z; scale[i][3] = words.w;
        for (int k = 0; k < 4; k++) ofGamma[i][k] = ofBeta[i][k] = 0;
    }
    for (int row = blockIdx.x * WARPS + threadIdx.y; row < rows; row += gridDim.x * WARPS) {
        long long first = (long long) row * width;
        float normal[VECTORS][4], up[VECTORS][4];
        float mean = means[row], inverse = inverses[row];
        #pragma unroll
        for (int i = 0; i < VECTORS; i++) { // all loads before anything waits for them
            int at = threadIdx.x + i * WARP;
            Vector ofX = {}, ofG = {};
            if (at < width) {
                ofX = x[first + at];
                ofG = g[first + at];
            }
            unpack(ofX, normal[i]);
            unpack(ofG, up[i]);
        }
        float along = 0, total = 0;
        #pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            for (int k = 0; k < 4; k++) {
                normal[i][k] = (normal[i][k] - mean) * inverse;
                ofGamma[i][k] += up[i][k] * normal[i][k]; // up is 0 beyond the width
                ofBeta[i][k] += up[i][k];
                up[i][k] *= scale[i][k];
                total += up[i][k];
                along += up[i][k] * normal[i][k];
            }
        }
        total = warp_sum(total) / (4 * width);
        along = warp_sum(along) / (4 * width);
        if (!dx) continue;
        #pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            int at = threadIdx.x + i * WARP;
            if (at < width) {
                float out[4];
                for (int k = 0; k < 4; k++) out[k] = (up[i][k] - total - normal[i][k] * along) * inverse;
                dx[first + at] = vector(out);
            }
        }
    }
    if (!partial) return;
    float4* own = partial + (long long) blockIdx.x * 2 * width;
    #pragma unroll
    for (int i = 0; i < 2 * VECTORS; i++) {
        const float* of = i < VECTORS ? ofGamma[i] : ofBeta[i - VECTORS];
        __syncthreads();
        sums[threadIdx.y][threadIdx.x] = make_float4(of[0], of[1], of[2], of[3]);
        __syncthreads();
        int at = threadIdx.x + (i < VECTORS ? i : i - VECTORS) * WARP;
        if (threadIdx.y == 0 && at < width) {
            float4 all = sums[0][threadIdx.x];
            for (int warp = 1; warp < WARPS; warp++) { // in a fixed order: the same bits every time
                float4 more = sums[warp][threadIdx.x];
                all.x += more.x; all.y += more.y; all.z += more.z; all.w += more.w;
            }
            own[(i < VECTORS ? 0 : width) + at] = all;
        }
    }
}
