// Steps of an optimizer without host synchronization: org.gramian.train.CudaGraphOptimizer, GpuStiefelStep and GpuStepState launch
// these.
//
// What such steps share lies in cells of double precision, by the indices of org.gramian.train.GpuStepState. Once a step went wrong
// nothing moves any more, until the host has taken it.

enum { RATE, WRONG, LOSS, RIGHT, STEPS, FIRST, BATCH_LOSS, BATCH_RIGHT, CORRECTION_1, CORRECTION_2, AVERAGE, SCALE, DROPOUT };

extern "C" __global__ void set_cell(double* cells, int cell, double value) { cells[cell] = value; }

__device__ bool finite(float value) { return fabsf(value) <= 3.402823466e38f; }

extern "C" __global__ void set_step(
        double* cells, double rate, double correction1, double correction2, double average) {
    cells[RATE] = rate;
    cells[CORRECTION_1] = correction1;
    cells[CORRECTION_2] = correction2;
    cells[AVERAGE] = average;
}

// Many parameters in one launch. Layout and sizes as in CudaGraphOptimizer: the table travels by value in the arguments.
enum { ENTRIES = 64, CHUNK = 8192, THREADS = 256 };

enum { AT_ONCE = 4 }; // elements that a thread loads before its first store

struct Entry {
    float* w;        // parameter
    float* m;        // velocity or first moment, null if g is the next value of w
    float* v;        // second moment
    float* a;        // averaged weights, null for none
    const float* g;  // gradient, or the next value of w
    long long count;
    float factor;    // on the learning rate
    float decay;     // weight decay
};

struct Table {
    Entry entries[ENTRIES];
    int first[ENTRIES];  // first block of each entry; a block takes CHUNK elements
    int size;            // entries in use
    int start;           // blocks of the launches before, for partial sums
};

// The entry to which a block belongs: the last one whose first block is not behind it.
__device__ int entry_of(const Table& table, int block) {
    int low = 0, high = table.size - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (table.first[middle] <= block) low = middle;
        else high = middle - 1;
    }
    return low;
}

// Sum over a block of THREADS in a fixed order; valid in thread 0.
__device__ double block_sum(double value) {
    __shared__ double sums[THREADS];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

// Says that a step went wrong if a gradient is not finite; with squares set, also sums the squares of each chunk.
extern "C" __global__ void check_gradients(double* cells, double* partial, int squares, Table table) {
    int index = entry_of(table, blockIdx.x);
    const float* g = table.entries[index].g;
    long long begin = (long long) (blockIdx.x - table.first[index]) * CHUNK;
    long long end = min(table.entries[index].count, begin + CHUNK);
    bool wrong = false;
    double sum = 0;
    #pragma unroll 8
    for (long long i = begin + threadIdx.x; i < end; i += THREADS) {
        wrong |= !finite(g[i]);
        sum += (double) g[i] * g[i];
    }
    if (wrong) cells[WRONG] = 1;
    if (!squares) return;
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[table.start + blockIdx.x] = sum;
}

// The factor on gradients that bounds their common norm, from the sums of chunks in a fixed order. One block.
extern "C" __global__ void clip_factor(double* cells, const double* partial, int count, double largest, double epsilon) {
    double sum = 0;
    for (int i = threadIdx.x; i < count; i += THREADS) sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) cells[SCALE] = fmin(1.0, largest / (sqrt(sum) + epsilon));
}

// m = momentum m + g + decay w, w = w - rate m, a = d a + (1 - d) w.
extern "C" __global__ void sgd(double* cells, float momentum, Table table) {
    if (cells[WRONG] != 0) return;
    int index = entry_of(table, blockIdx.x);
    float *w = table.entries[index].w, *m = table.entries[index].m, *a = table.entries[index].a;
    const float* g = table.entries[index].g;
    float decay = table.entries[index].decay;
    float rate = (float) (cells[RATE] * table.entries[index].factor);
    float scale = (float) cells[SCALE], average = (float) cells[AVERAGE];
    long long begin = (long long) (blockIdx.x - table.first[index]) * CHUNK;
    long long end = min(table.entries[index].count, begin + CHUNK);
    for (long long first = begin + threadIdx.x; first < end; first += AT_ONCE * THREADS) {
        float gs[AT_ONCE], ws[AT_ONCE], ms[AT_ONCE];
        #pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            long long i = first + k * THREADS;
            gs[k] = i < end ? g[i] : 0;
            ws[k] = m && i < end ? w[i] : 0;
            ms[k] = m && i < end ? m[i] : 0;
        }
        #pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            long long i = first + k * THREADS;
            if (i >= end) break;
            float direction = gs[k] * scale + decay * ws[k] + momentum * ms[k];
            float moved = m ? ws[k] - rate * direction : gs[k];
            if (m) m[i] = direction;
            w[i] = moved;
            if (a) a[i] = average * a[i] + (1 - average) * moved;
        }
    }
}

// Adam with decoupled weight decay; betas are given as they are and subtracted from 1 by the host in double precision.
extern "C" __global__ void adamw(
        double* cells, float beta1, float rest1, float beta2, float rest2, float epsilon, Table table) {
    if (cells[WRONG] != 0) return;
    int index = entry_of(table, blockIdx.x);
    float *w = table.entries[index].w, *m = table.entries[index].m, *v = table.entries[index].v, *a = table.entries[index].a;
    const float* g = table.entries[index].g;
    double own = cells[RATE] * table.entries[index].factor;
    float kept = (float) (1 - own * table.entries[index].decay);
    float rate = (float) (own / cells[CORRECTION_1]), root = (float) (1 / sqrt(cells[CORRECTION_2]));
    float scale = (float) cells[SCALE], average = (float) cells[AVERAGE];
    long long begin = (long long) (blockIdx.x - table.first[index]) * CHUNK;
    long long end = min(table.entries[index].count, begin + CHUNK);
    for (long long start = begin + threadIdx.x; start < end; start += AT_ONCE * THREADS) {
        float gs[AT_ONCE], ws[AT_ONCE], ms[AT_ONCE], vs[AT_ONCE];
        #pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            long long i = start + k * THREADS;
            gs[k] = i < end ? g[i] : 0;
            ws[k] = m && i < end ? w[i] : 0;
            ms[k] = m && i < end ? m[i] : 0;
            vs[k] = m && i < end ? v[i] : 0;
        }
        #pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            long long i = start + k * THREADS;
            if (i >= end) break;
            float gradient = gs[k] * scale;
            float first = beta1 * ms[k] + rest1 * gradient;
            float second = beta2 * vs[k] + rest2 * gradient * gradient;
            float moved = m ? kept * ws[k] - rate * (first / (sqrtf(second) * root + epsilon)) : gs[k];
            if (m) m[i] = first;
            if (m) v[i] = second;
            w[i] = moved;
            if (a) a[i] = average * a[i] + (1 - average) * moved;
        }
    }
}

// A gradient, clipped.
extern "C" __global__ void clipped(const double* cells, const float* g, float* out, long long count) {
    float scale = (float) cells[SCALE];
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x)
        out[i] = g[i] * scale;
}

// The next second moment of a matrix and the factor on its first moment that makes a step of Riemannian Adam. One block.
extern "C" __global__ void riemannian_rate(
        const double* cells, const float* gradient, const float* second, float* next, float* rate, long long count,
        double factor, double beta2, double epsilon) {
    double sum = 0;
    for (long long i = threadIdx.x; i < count; i += THREADS) sum += (double) gradient[i] * gradient[i];
    sum = block_sum(sum);
    if (threadIdx.x > 0) return;
    double moment = beta2 * *second + (1 - beta2) * sum;
    *next = (float) moment;
    *rate = (float) (cells[RATE] * factor / cells[CORRECTION_1] / (sqrt(moment / cells[CORRECTION_2]) + epsilon));
}

// step = rate b and out = a + step, the rate in memory.
extern "C" __global__ void along_rate(
        const float* a, const float* b, const float* rate, float* step, float* out, long long count) {
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x) {
        step[i] = *rate * b[i];
        out[i] = a[i] + step[i];
    }
}

// The places of the next batch in the order of an epoch.
extern "C" __global__ void next_places(
        const double* cells, const long long* order, const long long* labels, long long* places, long long* batch_labels,
        int batch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch) return;
    long long place = order[(long long) cells[FIRST] + (long long) cells[STEPS] * batch + i];
    places[i] = place;
    batch_labels[i] = labels[place];
}

// Notes the loss of a batch and how many were right. One block of 1024, a row to a warp.
extern "C" __global__ void observe(
        const float* scores, const long long* labels, const float* loss, double* cells, int rows, int classes) {
    __shared__ int right;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) right = 0;
    __syncthreads();
    for (int i = threadIdx.x / 32; i < rows; i += 32) {
        const float* row = scores + (long long) i * classes;
        float own = row[labels[i]];
        bool beaten = false; // by a larger score, or an equal one of an earlier class
        for (int k = lane; k < classes; k += 32) beaten |= row[k] > own || (row[k] == own && k < labels[i]);
        if (!__any_sync(0xffffffff, beaten) && lane == 0) atomicAdd(&right, 1);
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    if (!finite(*loss)) cells[WRONG] = 1;
    cells[BATCH_LOSS] = (double) *loss * rows;
    cells[BATCH_RIGHT] = right;
}

// Counts a step, unless it went wrong.
extern "C" __global__ void count(double* cells) {
    if (cells[WRONG] != 0) return;
    cells[LOSS] += cells[BATCH_LOSS];
    cells[RIGHT] += cells[BATCH_RIGHT];
    cells[STEPS] += 1;
}

// SplitMix64's finalizer, as in org.gramian.train.loop.Dropout.
__device__ unsigned long long mix(unsigned long long z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// Factors of dropout, 0 or kept, from a hash of the epoch's key, the example's place and the column.
extern "C" __global__ void dropout(
        const double* cells, const long long* places, float* factors, long long count, long long columns, int dropped,
        float kept) {
    const unsigned long long golden = 0x9E3779B97F4A7C15ull;
    unsigned long long key = (unsigned long long) cells[DROPOUT];
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x) {
        unsigned long long row = mix(key + (unsigned long long) (places[i / columns] + 1) * golden);
        unsigned long long draw = mix(row + (unsigned long long) (i % columns + 1) * golden) >> 40;
        factors[i] = draw < (unsigned long long) dropped ? 0.0f : kept;
    }
}

// step = rate b and out = a + step, the rate in the cells or given. If f is given, b = f + momentum v - b before.
extern "C" __global__ void along(
        const float* a, float* b, const float* f, const float* v, const double* cells, float* step, float* out,
        long long count, float momentum, float factor, int constant) {
    float rate = constant ? factor : (float) (cells[RATE] * factor);
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x) {
        float direction = b[i];
        if (f) b[i] = direction = f[i] + momentum * v[i] - direction;
        step[i] = rate * direction;
        out[i] = a[i] + step[i];
    }
}

// S = F'W, or its symmetric part, plus momentum times the symmetric part of V'W.
extern "C" __global__ void normal_part(
        const float* fw, const float* vw, float* s, int size, float momentum, int symmetric) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= size) return;
    long long place = (long long) i * size + j, turned = (long long) j * size + i;
    float own = symmetric ? (fw[place] + fw[turned]) / 2 : fw[place];
    s[place] = own + momentum * (vw[place] + vw[turned]) / 2;
}

// Upper triangle of a Gram matrix less an identity matrix times unit, half of the diagonal. Sets a flag if an element is larger
// than a bound, and clears it if the bound is infinite.
extern "C" __global__ void upper_error(float* gram, int* again, int size, float unit, float bound) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= size) return;
    long long place = (long long) i * size + j;
    float error = j < i ? 0 : j == i ? (gram[place] - unit) / 2 : gram[place];
    gram[place] = error;
    if (isinf(bound)) {
        if (place == 0) *again = 0;
    } else if (!(fabsf(error) <= bound)) {
        *again = 1;
    }
}

enum { TILE = 32 }; // rows and columns of a tile of a matrix, which 32 x 8 threads compute

// If the flag is set: the upper part of Q'Q - I, half of the diagonal, of Q [rows, size]. Says that a step went wrong if an element
// is larger than a bound.
extern "C" __global__ void remaining_error(
        const float* q, const int* again, float* error, double* cells, int rows, int size, float bound) {
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    if (!*again || blockIdx.y > blockIdx.x) return;
    int x = threadIdx.x, first = blockIdx.y * TILE, j = blockIdx.x * TILE + x;
    float sums[4] = {0, 0, 0, 0};
    for (int start = 0; start < rows; start += TILE) {
        for (int k = threadIdx.y; k < TILE; k += 8) {
            bool inside = start + k < rows;
            const float* row = q + (long long) (start + k) * size;
            left[k][x] = inside && first + x < size ? row[first + x] : 0;
            right[k][x] = inside && j < size ? row[j] : 0;
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int e = 0; e < 4; e++) sums[e] += left[k][threadIdx.y + 8 * e] * right[k][x];
        __syncthreads();
    }
    for (int e = 0; e < 4; e++) {
        int i = first + threadIdx.y + 8 * e;
        float value = j < i ? 0 : j == i ? (sums[e] - 1) / 2 : sums[e];
        if (i < size && j < size) {
            error[(long long) i * size + j] = value;
            if (!(fabsf(value) <= bound)) cells[WRONG] = 1;
        }
    }
}

// out = Q - Q error if the flag is set, for an error whose tiles below the diagonal are not read; else out = Q.
extern "C" __global__ void corrected(
        const float* q, const int* again, const float* error, float* out, int rows, int size) {
    __shared__ float left[TILE][TILE + 1], right[TILE][TILE + 1];
    int x = threadIdx.x, first = blockIdx.y * TILE, j = blockIdx.x * TILE + x;
    float sums[4] = {0, 0, 0, 0};
    if (*again) {
        for (int start = 0; start <= blockIdx.x * TILE; start += TILE) {
            for (int k = threadIdx.y; k < TILE; k += 8) {
                int i = first + k, r = start + k;
                left[k][x] = i < rows && start + x < size ? q[(long long) i * size + start + x] : 0;
                right[k][x] = r < size && j < size ? error[(long long) r * size + j] : 0;
            }
            __syncthreads();
            for (int k = 0; k < TILE; k++)
                for (int e = 0; e < 4; e++) sums[e] += left[threadIdx.y + 8 * e][k] * right[k][x];
            __syncthreads();
        }
    }
    for (int e = 0; e < 4; e++) {
        int i = first + threadIdx.y + 8 * e;
        long long place = (long long) i * size + j;
        if (i < rows && j < size) out[place] = q[place] - sums[e];
    }
}

// a = a - b.
extern "C" __global__ void subtract(float* a, const float* b, long long count) {
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x)
        a[i] -= b[i];
}
