// Mixup and CutMix of a batch whose images are mixed with their successors: org.gramian.train.loop.BatchMixing launches these.
// cells: share of the image's own pixels outside of the rectangle, share of its own label, left, top, right, bottom.

extern "C" __global__ void set_mix(
        float* cells, float pixels, float labels, int left, int top, int right, int bottom) {
    cells[0] = pixels;
    cells[1] = labels;
    cells[2] = (float) left;
    cells[3] = (float) top;
    cells[4] = (float) right;
    cells[5] = (float) bottom;
}

// out[i] = in[i + 1] inside of the rectangle, share in[i] + (1 - share) in[i + 1] elsewhere; [n, channels, height, width].
extern "C" __global__ void mix_images(
        const float* in, const float* cells, float* out, int rows, long long elements, int height, int width) {
    long long count = rows * elements;
    float share = cells[0];
    for (long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long long) gridDim.x * blockDim.x) {
        long long row = i / elements, at = i % elements;
        int x = (int) (at % width), y = (int) (at / width % height);
        float partner = in[(row + 1) % rows * elements + at];
        bool inside = x >= cells[2] && x < cells[4] && y >= cells[3] && y < cells[5];
        out[i] = inside ? partner : share * in[i] + (1 - share) * partner;
    }
}

// Targets [n, classes] of mixed images, and the label that has the greater share.
extern "C" __global__ void mix_targets(
        const float* in, const long long* labels, const float* cells, float* out, long long* dominant, int rows, int classes) {
    float share = cells[1];
    int count = rows * classes;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int row = i / classes, next = (row + 1) % rows, k = i % classes;
        out[i] = share * in[i] + (1 - share) * in[next * classes + k];
        if (k == 0) dominant[row] = labels[share >= 0.5f ? row : next];
    }
}
