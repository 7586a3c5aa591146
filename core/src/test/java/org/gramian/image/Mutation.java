package org.gramian.image;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/** Ways to damage a file, by accident or on purpose. */
public enum Mutation {
    FLIPPED_BITS {
        @Override
        public byte[] apply(byte[] file, List<byte[]> others, RandomGenerator random) {
            byte[] mutant = file.clone();
            for (int count = 1 << random.nextInt(5); count > 0; count--) {
                mutant[place(mutant, random)] ^= (byte) (1 << random.nextInt(8));
            }
            return mutant;
        }
    },
    CUT_SHORT {
        @Override
        public byte[] apply(byte[] file, List<byte[]> others, RandomGenerator random) {
            return Arrays.copyOf(file, random.nextInt(file.length));
        }
    },
    FOREIGN_HEADER {
        @Override
        public byte[] apply(byte[] file, List<byte[]> others, RandomGenerator random) {
            byte[] other = others.get(random.nextInt(others.size()));
            byte[] mutant = file.clone();
            int length = Math.min(4 + random.nextInt(60), Math.min(file.length, other.length));
            System.arraycopy(other, 0, mutant, 0, length);
            return mutant;
        }
    },
    /** Fields of two or four bytes get extreme values: sizes, lengths, offsets, counts. */
    LYING_FIELDS {
        @Override
        public byte[] apply(byte[] file, List<byte[]> others, RandomGenerator random) {
            byte[] mutant = file.clone();
            for (int count = 1 + random.nextInt(3); count > 0; count--) {
                int[] extremes = {0, 1, 0x7fff, 0xffff, 0x7fffffff, -1, 0x01000000, 0x00ffff00, 2000, random.nextInt()};
                int value = extremes[random.nextInt(extremes.length)];
                int place = place(mutant, random);
                int width = random.nextBoolean() ? 2 : 4;
                boolean bigEndian = random.nextBoolean();
                for (int i = 0; i < width && place + i < mutant.length; i++) {
                    mutant[place + i] = (byte) (value >> (8 * (bigEndian ? width - 1 - i : i)));
                }
            }
            return mutant;
        }
    },
    /** A part is repeated, dropped or moved. */
    SHUFFLED_PARTS {
        @Override
        public byte[] apply(byte[] file, List<byte[]> others, RandomGenerator random) {
            int from = place(file, random);
            int to = from + random.nextInt(file.length - from);
            int at = place(file, random);
            int repeats = random.nextInt(4);
            byte[] mutant = Arrays.copyOf(file, file.length + repeats * (to - from));
            System.arraycopy(file, at, mutant, at + repeats * (to - from), file.length - at);
            for (int i = 0; i < repeats; i++) {
                System.arraycopy(file, from, mutant, at + i * (to - from), to - from);
            }
            return repeats == 0 ? Arrays.copyOfRange(file, 0, to) : mutant;
        }
    };

    public abstract byte[] apply(byte[] file, List<byte[]> others, RandomGenerator random);

    /** Any place, but the first bytes, where the headers are, every second time. */
    private static int place(byte[] file, RandomGenerator random) {
        return random.nextInt(random.nextBoolean() ? file.length : Math.min(file.length, 200));
    }
}
