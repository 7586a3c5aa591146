// The upper triangle of a symmetric matrix as a vector, off-diagonal elements times sqrt(2), its smoothed root
// r = v / (sqrt(|v| + e) + sqrt(e)), and r / |r|, in one pass to measure and one to write; TriangleKernels launches these.

__device__ float block_sum(float value) {
    __shared__ float sums[8];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 1; k < 8; k++) value += sums[k];
    return value;
}

__device__ float element(const float* row, int i, int j) {
    return row[j] * (i == j ? 1.0f : 1.41421356237309505f);
}

__device__ float root(float v, float epsilon, float root_epsilon) {
    return v / (sqrtf(fabsf(v) + epsilon) + root_epsilon);
}

// Sums of the squares of roots, one row of a matrix to a block of 256.
extern "C" __global__ void squares(const float* y, float* parts, int size, float epsilon, float root_epsilon) {
    int i = blockIdx.x;
    const float* row = y + ((long long) blockIdx.y * size + i) * size;
    float sum = 0;
    for (int j = i + threadIdx.x; j < size; j += blockDim.x) {
        float r = root(element(row, i, j), epsilon, root_epsilon);
        sum += r * r;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[(long long) blockIdx.y * size + i] = sum;
}

// Sums of parts, an image to a block of 256; as a norm of at least the smallest if wanted.
extern "C" __global__ void totals(const float* parts, float* out, int count, int as_norm, float smallest) {
    float sum = 0;
    for (int k = threadIdx.x; k < count; k += blockDim.x) sum += parts[(long long) blockIdx.x * count + k];
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        float norm = sqrtf(sum);
        out[blockIdx.x] = !as_norm ? sum : norm < smallest ? smallest : norm;
    }
}

__device__ long long start(int i, int size) {
    return (long long) i * size - (long long) i * (i - 1) / 2 - i; // of row i, less the i elements below the diagonal
}

// u = r / norm.
extern "C" __global__ void unit_vectors(
        const float* y, const float* norms, float* u, int size, long long length, float epsilon, float root_epsilon) {
    int i = blockIdx.x;
    const float* row = y + ((long long) blockIdx.y * size + i) * size;
    float* to = u + blockIdx.y * length + start(i, size);
    float scale = 1 / norms[blockIdx.y];
    for (int j = i + threadIdx.x; j < size; j += blockDim.x)
        to[j] = root(element(row, i, j), epsilon, root_epsilon) * scale;
}

// Sums of u o g, one row of a matrix to a block of 256.
extern "C" __global__ void along(const float* u, const float* g, float* parts, int size, long long length) {
    int i = blockIdx.x;
    long long from = blockIdx.y * length + start(i, size);
    float sum = 0;
    for (int j = i + threadIdx.x; j < size; j += blockDim.x) sum += u[from + j] * g[from + j];
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[(long long) blockIdx.y * size + i] = sum;
}

// E = dL/dY, symmetric: both triangles of a tile at once, 32 x 8 threads to a block of tiles a <= b.
extern "C" __global__ void matrix_gradient(
        const float* y, const float* u, const float* g, const float* norms, const float* dots, float* e, int size,
        long long length, float epsilon) {
    __shared__ float tile[32][33];
    int a = blockIdx.x, b = blockIdx.y;
    if (a > b) return;
    long long matrix = (long long) blockIdx.z * size * size;
    float scale = 1 / norms[blockIdx.z], dot = dots[blockIdx.z];
    for (int k = threadIdx.y; k < 32; k += 8) {
        int i = a * 32 + k, j = b * 32 + threadIdx.x;
        float value = 0;
        if (i <= j && j < size) {
            long long place = blockIdx.z * length + start(i, size) + j;
            float v = element(y + matrix + (long long) i * size, i, j);
            value = (g[place] - u[place] * dot) * scale * 0.5f / sqrtf(fabsf(v) + epsilon);
            if (i != j) value *= 0.70710678118654752f;
            e[matrix + (long long) i * size + j] = value;
        }
        tile[k][threadIdx.x] = value;
    }
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) {
        int i = b * 32 + k, j = a * 32 + threadIdx.x;
        if (i < size && j < i) e[matrix + (long long) i * size + j] = tile[threadIdx.x][k];
    }
}
