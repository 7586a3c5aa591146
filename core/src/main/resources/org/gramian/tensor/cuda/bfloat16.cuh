// Bfloat16 in CUDA C++, two numbers to a word; org.gramian.tensor.cuda.CudaProgram puts this in front of every program.

__device__ inline float low(unsigned int word) { return __uint_as_float(word << 16); }

__device__ inline float high(unsigned int word) { return __uint_as_float(word & 0xffff0000u); }

__device__ inline void unpack(uint4 words, float* values) {
    values[0] = low(words.x); values[1] = high(words.x);
    values[2] = low(words.y); values[3] = high(words.y);
    values[4] = low(words.z); values[5] = high(words.z);
    values[6] = low(words.w); values[7] = high(words.w);
}

// To the nearest, ties to even; NaN stays NaN.
__device__ inline unsigned int rounded(float value) {
    unsigned int bits = __float_as_uint(value);
    if (value != value) return 0x7fc0u;
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

__device__ inline uint4 pack(const float* values) {
    uint4 words;
    words.x = rounded(values[0]) | rounded(values[1]) << 16;
    words.y = rounded(values[2]) | rounded(values[3]) << 16;
    words.z = rounded(values[4]) | rounded(values[5]) << 16;
    words.w = rounded(values[6]) | rounded(values[7]) << 16;
    return words;
}

// Masks of the two numbers in a word that lie strictly between 0 and a bound, whose bits are given; 0x8000 is above all of them.
__device__ inline unsigned int between(unsigned int word, unsigned int bound) {
    unsigned int low = word & 0xffffu, high = word >> 16;
    return (low != 0 && low < bound ? 0xffffu : 0) | (high != 0 && high < bound ? 0xffff0000u : 0);
}
