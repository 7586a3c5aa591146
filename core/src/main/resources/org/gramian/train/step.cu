// A step of stochastic gradient descent that needs no word from the host: org.gramian.train.RecordedSgd launches these.
//
// What such steps share lies in cells of double precision, in the order of StepCells.Cell. Once a step went wrong nothing
// moves any more, until the host has seen to it.

enum { RATE, WRONG, LOSS, RIGHT, STEPS, FIRST, BATCH_LOSS, BATCH_RIGHT, DROPOUT };

extern "C" __global__ void set_cell(double* cells, int cell, double value) { cells[cell] = value; }

__device__ bool finite(float value) { return fabsf(value) <= 3.402823466e38f; }

// Says that a step went wrong if any element is no number.
extern "C" __global__ void check(const float* values, double* cells, long long count) {
    bool wrong = false;
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x)
        wrong |= !finite(values[i]);
    if (wrong) cells[WRONG] = 1;
}

// The same if any element is larger than a bound.
extern "C" __global__ void check_bound(const float* values, double* cells, long long count, float bound) {
    bool wrong = false;
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x)
        wrong |= !(fabsf(values[i]) <= bound);
    if (wrong) cells[WRONG] = 1;
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

// Notes the loss of a batch and how many were right. One block of 256.
extern "C" __global__ void observe(
        const float* scores, const long long* labels, const float* loss, double* cells, int rows, int classes) {
    __shared__ int right;
    if (threadIdx.x == 0) right = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < rows; i += blockDim.x) {
        const float* row = scores + (long long) i * classes;
        int top = 0;
        for (int k = 1; k < classes; k++) top = row[k] > row[top] ? k : top;
        if (top == labels[i]) atomicAdd(&right, 1);
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

// v = momentum v + g + decay w, w = w - rate v.
extern "C" __global__ void move(
        float* w, float* v, const float* g, const double* cells, long long count, float factor, float momentum, float decay) {
    if (cells[WRONG] != 0) return;
    float rate = (float) (cells[RATE] * factor);
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x) {
        float direction = g[i] + decay * w[i] + momentum * v[i];
        v[i] = direction;
        w[i] -= rate * direction;
    }
}

// a + rate b, the rate in the cells or given.
extern "C" __global__ void along(
        const float* a, const float* b, const double* cells, float* out, long long count, float factor, int constant) {
    float rate = constant ? factor : (float) (cells[RATE] * factor);
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x)
        out[i] = a[i] + rate * b[i];
}

// Upper triangle of Q'Q - I, half of the diagonal.
extern "C" __global__ void upper_error(float* gram, int size) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= size) return;
    long long place = (long long) i * size + j;
    gram[place] = j < i ? 0 : j == i ? (gram[place] - 1) / 2 : gram[place];
}

// Takes a value over, unless the step went wrong.
extern "C" __global__ void take_over(float* target, const float* value, const double* cells, long long count) {
    if (cells[WRONG] != 0) return;
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x)
        target[i] = value[i];
}
