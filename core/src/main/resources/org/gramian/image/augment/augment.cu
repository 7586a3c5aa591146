// Augmented crops from decoded images in the memory of a GPU: org.gramian.image.augment.ResidentImages launches these.
// The same function as CropRenderer, in the same order; the places of a row of parameters are those of CropParameters.write.

enum {
    XX, XY, X0, YX, YY, Y0, SUPPORT_X, SUPPORT_Y, CONTRAST, BRIGHTNESS, SATURATION, SHARPNESS, MASK, SOLARIZE,
    LEFT, TOP, RIGHT, BOTTOM, PARAMETERS
};

// Pixels along an axis that make up one pixel of the crop.
struct Taps {
    int first, last;
    double centre, support;
    float sum;

    __device__ Taps(double coordinate, double support, int length) : support(support), sum(0) {
        centre = fmin(fmax(coordinate, 0.5), length - 0.5);
        first = (int) fmax(0.0, ceil(centre - support - 0.5));
        last = (int) fmin(length - 1.0, floor(centre + support - 0.5));
        for (int i = first; i <= last; i++) sum += weight(i);
    }

    __device__ float weight(int i) const { return (float) fmax(0.0, 1 - fabs(i + 0.5 - centre) / support); }
};

__device__ float level(unsigned char value, int mask, int solarize) {
    int kept = value & mask;
    return (float) (kept >= solarize ? 255 - kept : kept);
}

// Interpolates: crops [n, size, size, 3], and the sum of each block's values, sums [n, gridDim.x]. Blocks of 256, gridDim.y = n.
extern "C" __global__ void interpolate(
        const unsigned char* images, const long long* offsets, const int* sizes, const float* table, const long long* places,
        float* crops, float* sums, int size) {
    __shared__ float partial[256];
    long long place = places[blockIdx.y];
    const float* p = table + place * PARAMETERS;
    const unsigned char* image = images + offsets[place];
    int width = sizes[2 * place], height = sizes[2 * place + 1];
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0;
    if (pixel < size * size) {
        double x = pixel % size + 0.5, y = pixel / size + 0.5;
        Taps across((double) p[XX] * x + (double) p[XY] * y + p[X0], p[SUPPORT_X], width);
        Taps down((double) p[YX] * x + (double) p[YY] * y + p[Y0], p[SUPPORT_Y], height);
        int mask = (int) p[MASK], solarize = (int) p[SOLARIZE];
        float red = 0, green = 0, blue = 0;
        for (int j = down.first; j <= down.last; j++) {
            float vertical = down.weight(j) / down.sum;
            const unsigned char* source = image + 3 * ((long long) j * width + across.first);
            for (int i = across.first; i <= across.last; i++, source += 3) {
                float weight = vertical * (across.weight(i) / across.sum);
                red += weight * level(source[0], mask, solarize);
                green += weight * level(source[1], mask, solarize);
                blue += weight * level(source[2], mask, solarize);
            }
        }
        float* crop = crops + 3 * ((long long) blockIdx.y * size * size + pixel);
        crop[0] = red;
        crop[1] = green;
        crop[2] = blue;
        total = red + green + blue;
    }
    partial[threadIdx.x] = total;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) { // in a fixed order: the same bits every time
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[(long long) blockIdx.y * gridDim.x + blockIdx.x] = partial[0];
}

__device__ float sharpened(const float* crop, int x, int y, int channel, int size, float factor) {
    float value = crop[3 * (y * size + x) + channel];
    if (factor == 1) return value;
    float sum = 4 * value;
    for (int dy = -1; dy <= 1; dy++) {
        int row = min(max(y + dy, 0), size - 1) * size;
        for (int dx = -1; dx <= 1; dx++) sum += crop[3 * (row + min(max(x + dx, 0), size - 1)) + channel];
    }
    float blur = sum / 13;
    return blur + factor * (value - blur);
}

// Colours, erased rectangles and preprocessing: out [n, 3, size, size]. The same grid; channel c is colour first + c * step.
extern "C" __global__ void finish(
        const float* crops, const float* sums, const float* table, const long long* places, float* out, int size, int first,
        int step, float mean0, float mean1, float mean2, float scale0, float scale1, float scale2) {
    __shared__ double partial[256];
    const float* p = table + places[blockIdx.y] * PARAMETERS;
    double part = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += 256) part += sums[(long long) blockIdx.y * gridDim.x + i];
    partial[threadIdx.x] = part;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    float mean = (float) (partial[0] / (3.0 * size * size));
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= size * size) return;
    int x = pixel % size, y = pixel / size;
    const float* crop = crops + 3LL * blockIdx.y * size * size;
    float colours[3];
    for (int c = 0; c < 3; c++) colours[c] = sharpened(crop, x, y, c, size, p[SHARPNESS]);
    float luma = 0.299f * colours[0] + 0.587f * colours[1] + 0.114f * colours[2];
    bool erased = x >= (int) p[LEFT] && x < (int) p[RIGHT] && y >= (int) p[TOP] && y < (int) p[BOTTOM];
    float means[3] = {mean0, mean1, mean2}, scales[3] = {scale0, scale1, scale2};
    for (int c = 0; c < 3; c++) {
        float value = luma + p[SATURATION] * (colours[first + c * step] - luma);
        value = mean + p[CONTRAST] * (value - mean) + p[BRIGHTNESS];
        value = (fminf(fmaxf(value, 0.0f), 255.0f) - means[c]) * scales[c];
        out[(3LL * blockIdx.y + c) * size * size + pixel] = erased ? 0.0f : value;
    }
}
