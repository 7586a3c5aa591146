// Cross-entropy; org.gramian.accelerate.FusedLoss launches this.

#define WARPS 32

// loss = -1/n sum q o log softmax(x) of n rows, and its gradient (softmax(x) rowsum(q) - q) / n. One block of 1024 threads, a row
// to a warp; sums have a fixed order.
extern "C" __global__ void cross_entropy(
        const float* scores, const float* targets, float* loss, float* gradient, int rows, int classes) {
    __shared__ float losses[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = warp; i < rows; i += WARPS) {
        const float *x = scores + (long long) i * classes, *q = targets + (long long) i * classes;
        float* g = gradient + (long long) i * classes;
        float largest = -3.402823466e38f, exponentials = 0, total = 0, product = 0;
        for (int j = lane; j < classes; j += 32) largest = larger(x[j], largest);
        largest = warp_max(largest);
        for (int j = lane; j < classes; j += 32) {
            exponentials += expf(x[j] - largest);
            total += q[j];
            product += q[j] * (x[j] - largest);
        }
        exponentials = warp_sum(exponentials);
        total = warp_sum(total);
        sum += total * logf(exponentials) - warp_sum(product);
        for (int j = lane; j < classes; j += 32)
            g[j] = (expf(x[j] - largest) / exponentials * total - q[j]) / rows;
    }
    if (lane == 0) losses[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(losses[lane]);
        if (lane == 0) loss[0] = sum / rows;
    }
}
