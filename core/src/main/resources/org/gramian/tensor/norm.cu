// Batch norm by the statistics of a batch, of bfloat16 maps with channels last; org.gramian.tensor.BatchNormKernels launches
// these. Maps are rows of 8·c8 channels. Thread (lane, v) of a block takes the channels 8·v … 8·v + 7 of rows lane,
// lane + across, …, which are one access to memory each; sums and parameters are float32.

__device__ inline void load(const float* of, int v, float* values) {
    #pragma unroll
    for (int k = 0; k < 8; k++) values[k] = of[8 * v + k];
}

// Adds a sum of each channel over the lanes of a block, in a fixed order, and writes it to partial [blocks, 8·c8].
__device__ inline void write_sums(float* shared, const float* sum, float* partial, int c8, int across) {
    #pragma unroll
    for (int k = 0; k < 8; k++) shared[threadIdx.x * 8 + k] = sum[k];
    __syncthreads();
    for (int channel = threadIdx.x; channel < 8 * c8; channel += blockDim.x) {
        float total = 0;
        for (int l = 0; l < across; l++) total += shared[l * c8 * 8 + channel];
        partial[(long long) blockIdx.x * 8 * c8 + channel] = total;
    }
    __syncthreads();
}

// Sums of x - x0 and (x - x0)² over the rows of a block, where x0 is the first row: an element as shift keeps the variance exact
// where the mean is large. partial is [2, blocks, 8·c8].
extern "C" __global__ void shifted_sums(const uint4* __restrict__ x, float* __restrict__ partial, long long rows, int c8) {
    __shared__ float shared[256 * 8];
    int across = blockDim.x / c8, lane = threadIdx.x / c8, v = threadIdx.x % c8;
    float first[8], sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, square[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    unpack(x[v], first);
    if (lane < across) {
        #pragma unroll 4
        for (long long row = (long long) blockIdx.x * across + lane; row < rows; row += (long long) gridDim.x * across) {
            float values[8];
            unpack(x[row * c8 + v], values);
            #pragma unroll
            for (int k = 0; k < 8; k++) {
                float centred = values[k] - first[k];
                sum[k] += centred;
                square[k] += centred * centred;
            }
        }
    }
    write_sums(shared, sum, partial, c8, across);
    write_sums(shared, square, partial + (long long) gridDim.x * 8 * c8, c8, across);
}

// The sums of two columns of [2, rows, columns] over the rows. Blocks of 32 × 32 threads, valid where threadIdx.y is 0.
__device__ inline float2 column_sums(const float* partial, int rows, int columns) {
    __shared__ float parts[2][32][33];
    int column = blockIdx.x * 32 + threadIdx.x;
    float a = 0, b = 0;
    if (column < columns) {
        #pragma unroll 4
        for (int row = threadIdx.y; row < rows; row += 32) {
            a += partial[(long long) row * columns + column];
            b += partial[(long long) (rows + row) * columns + column];
        }
    }
    parts[0][threadIdx.y][threadIdx.x] = a;
    parts[1][threadIdx.y][threadIdx.x] = b;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int i = 1; i < 32; i++) { // in a fixed order: the same bits every time
            a += parts[0][i][threadIdx.x];
            b += parts[1][i][threadIdx.x];
        }
    }
    return make_float2(a, b);
}

// Mean and 1 / sqrt(biased variance + epsilon) of each channel from the shifted sums; moves the running mean and the running
// unbiased variance towards those of the batch.
extern "C" __global__ void moments(
        const unsigned short* x, const float* partial, float* mean, float* inverse, float* running_mean,
        float* running_variance, int blocks, int channels, float count, float momentum, float epsilon) {
    float2 sums = column_sums(partial, blocks, channels);
    int channel = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.y > 0 || channel >= channels) return;
    float shift = sums.x / count;
    float m = __uint_as_float((unsigned int) x[channel] << 16) + shift;
    float variance = sums.y / count - shift * shift;
    variance = variance < 0 ? 0 : variance; // NaN stays NaN
    mean[channel] = m;
    inverse[channel] = 1 / sqrtf(variance + epsilon);
    running_mean[channel] = (1 - momentum) * running_mean[channel] + momentum * m;
    running_variance[channel] = (1 - momentum) * running_variance[channel] + momentum * (variance * (count / (count - 1)));
}

// y = min(max(gamma (x - mean) inverse + beta + residual, low), high); the residual may be null.
extern "C" __global__ void normalize(
        const uint4* __restrict__ x, const uint4* __restrict__ residual, uint4* __restrict__ y, const float* gamma,
        const float* beta, const float* mean, const float* inverse, long long rows, int c8, float low, float high) {
    int across = blockDim.x / c8, lane = threadIdx.x / c8, v = threadIdx.x % c8;
    if (lane >= across) return;
    float scale[8], offset[8], centre[8], factor[8];
    load(gamma, v, scale);
    load(beta, v, offset);
    load(mean, v, centre);
    load(inverse, v, factor);
    #pragma unroll
    for (int k = 0; k < 8; k++) scale[k] *= factor[k];
    #pragma unroll 4
    for (long long row = (long long) blockIdx.x * across + lane; row < rows; row += (long long) gridDim.x * across) {
        long long at = row * c8 + v;
        float values[8], rest[8];
        unpack(x[at], values);
        unpack(residual ? residual[at] : make_uint4(0, 0, 0, 0), rest);
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            float value = scale[k] * (values[k] - centre[k]) + offset[k] + rest[k];
            values[k] = value < low ? low : value > high ? high : value;
        }
        y[at] = pack(values);
    }
}

// g' = g where 0 < y < bound, else 0, and the sums of g' and g' (x - mean) over the rows of a block: partial is [2, blocks, 8·c8].
// Without y, g' = g is not written.
extern "C" __global__ void gradient_sums(
        const uint4* __restrict__ g, const uint4* __restrict__ y, const uint4* __restrict__ x, uint4* __restrict__ masked,
        const float* mean, float* __restrict__ partial, long long rows, int c8, int bound) {
    __shared__ float shared[256 * 8];
    int across = blockDim.x / c8, lane = threadIdx.x / c8, v = threadIdx.x % c8;
    float centre[8], sum[8] = {0, 0, 0, 0, 0, 0, 0, 0}, product[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    load(mean, v, centre);
    if (lane < across) {
        #pragma unroll 2
        for (long long row = (long long) blockIdx.x * across + lane; row < rows; row += (long long) gridDim.x * across) {
            long long at = row * c8 + v;
            uint4 words = g[at];
            if (y) {
                uint4 gate = y[at];
                words.x &= between(gate.x, bound);
                words.y &= between(gate.y, bound);
                words.z &= between(gate.z, bound);
                words.w &= between(gate.w, bound);
                masked[at] = words;
            }
            float gradients[8], values[8];
            unpack(words, gradients);
            unpack(x[at], values);
            #pragma unroll
            for (int k = 0; k < 8; k++) {
                sum[k] += gradients[k];
                product[k] += gradients[k] * (values[k] - centre[k]);
            }
        }
    }
    write_sums(shared, sum, partial, c8, across);
    write_sums(shared, product, partial + (long long) gridDim.x * 8 * c8, c8, across);
}

// dbeta and dgamma from the sums of blocks.
extern "C" __global__ void parameter_gradients(
        const float* partial, const float* inverse, float* dgamma, float* dbeta, int blocks, int channels) {
    float2 sums = column_sums(partial, blocks, channels);
    int channel = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.y > 0 || channel >= channels) return;
    dbeta[channel] = sums.x;
    dgamma[channel] = sums.y * inverse[channel];
}

// dx = gamma inverse (g' - dbeta / count - (x - mean) inverse dgamma / count).
extern "C" __global__ void maps_gradient(
        const uint4* __restrict__ g, const uint4* __restrict__ x, uint4* __restrict__ dx, const float* gamma, const float* mean,
        const float* inverse, const float* dgamma, const float* dbeta, long long rows, int c8, float share) {
    int across = blockDim.x / c8, lane = threadIdx.x / c8, v = threadIdx.x % c8;
    if (lane >= across) return;
    float scale[8], centre[8], factor[8], along[8], average[8];
    load(gamma, v, scale);
    load(mean, v, centre);
    load(inverse, v, factor);
    load(dgamma, v, along);
    load(dbeta, v, average);
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        scale[k] *= factor[k];
        along[k] *= factor[k] * share;
        average[k] *= share;
    }
    #pragma unroll 4
    for (long long row = (long long) blockIdx.x * across + lane; row < rows; row += (long long) gridDim.x * across) {
        long long at = row * c8 + v;
        float gradients[8], values[8];
        unpack(g[at], gradients);
        unpack(x[at], values);
        #pragma unroll
        for (int k = 0; k < 8; k++) {
            values[k] = scale[k] * (gradients[k] - average[k] - (values[k] - centre[k]) * along[k]);
        }
        dx[at] = pack(values);
    }
}
