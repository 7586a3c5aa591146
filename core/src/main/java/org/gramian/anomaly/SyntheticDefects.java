package org.gramian.anomaly;

import java.util.SplittableRandom;
import org.gramian.image.Image;

/**
 * Defects drawn into good images, by which detectors are compared: scratches, blotches and pasted parts of the same image.
 *
 * <p>Li et al., "CutPaste", CVPR 2021, paste parts; scratches and blotches have the size and contrast of faint surface defects.
 */
enum SyntheticDefects {
    /** A thin curved line, lighter or darker than its surroundings. */
    SCRATCH {
        @Override
        void draw(Canvas canvas, SplittableRandom random) {
            double side = Math.min(canvas.width, canvas.height);
            double length = random.nextDouble(0.15, 0.6) * side;
            double thickness = Math.max(0.7, random.nextDouble(0.002, 0.007) * side);
            double angle = random.nextDouble(2 * Math.PI);
            double bend = random.nextDouble(-2, 2) / side;
            double offset = sign(random) * random.nextDouble(15, 60);
            double x = random.nextDouble(0.1, 0.9) * canvas.width;
            double y = random.nextDouble(0.1, 0.9) * canvas.height;
            boolean[] drawn = new boolean[canvas.width * canvas.height];
            for (double t = 0; t < length; t += 0.5) {
                x += 0.5 * Math.cos(angle + bend * t);
                y += 0.5 * Math.sin(angle + bend * t);
                disc(canvas, drawn, x, y, thickness, offset);
            }
        }

        private void disc(Canvas canvas, boolean[] drawn, double x, double y, double radius, double offset) {
            for (int row = (int) Math.floor(y - radius); row <= y + radius; row++) {
                for (int column = (int) Math.floor(x - radius); column <= x + radius; column++) {
                    if (canvas.contains(column, row) && Math.hypot(column - x, row - y) <= radius + 0.3) {
                        int at = row * canvas.width + column;
                        if (!drawn[at]) {
                            drawn[at] = true;
                            canvas.add(column, row, offset);
                        }
                    }
                }
            }
        }
    },
    /** An ellipse of noise and another brightness, fading to its border. */
    BLOTCH {
        @Override
        void draw(Canvas canvas, SplittableRandom random) {
            Part part = Part.of(canvas, random);
            double noise = random.nextDouble(8, 30);
            double offset = sign(random) * random.nextDouble(30);
            for (int row = 0; row < part.height; row++) {
                for (int column = 0; column < part.width; column++) {
                    double v = 2 * (row + 0.5) / part.height - 1;
                    double u = 2 * (column + 0.5) / part.width - 1;
                    double fade = Math.sqrt(Math.max(0, 1 - u * u - v * v));
                    double value = fade * (offset + noise * random.nextGaussian());
                    canvas.add(part.left + column, part.top + row, value);
                }
            }
        }
    },
    /** A part of the image at another place, with another contrast. */
    PASTED {
        @Override
        void draw(Canvas canvas, SplittableRandom random) {
            Part part = Part.of(canvas, random);
            int left = random.nextInt(canvas.width - part.width + 1);
            int top = random.nextInt(canvas.height - part.height + 1);
            double contrast = random.nextDouble(0.75, 1.25);
            byte[] source = canvas.rgb.clone();
            for (int row = 0; row < part.height; row++) {
                for (int i = 0; i < 3 * part.width; i++) {
                    int from = 3 * ((top + row) * canvas.width + left) + i;
                    int to = 3 * ((part.top + row) * canvas.width + part.left) + i;
                    canvas.rgb[to] = clamped(contrast * (source[from] & 0xff));
                }
            }
        }
    };

    /** Draws this defect. */
    abstract void draw(Canvas canvas, SplittableRandom random);

    /** Returns a copy of an image with one defect. */
    static Image draw(Image image, int kind, SplittableRandom random) {
        Canvas canvas = new Canvas(image.width(), image.height(), image.rgb().clone());
        values()[kind % values().length].draw(canvas, random);
        return new Image(canvas.width, canvas.height, canvas.rgb);
    }

    private static double sign(SplittableRandom random) {
        return random.nextBoolean() ? 1 : -1;
    }

    private static byte clamped(double value) {
        return (byte) Math.clamp(Math.round(value), 0, 255);
    }

    /** Pixels that are drawn on. */
    @SuppressWarnings("ArrayRecordComponent") // drawn on in place
    record Canvas(int width, int height, byte[] rgb) {
        private boolean contains(int column, int row) {
            return column >= 0 && row >= 0 && column < width && row < height;
        }

        private void add(int column, int row, double value) {
            int at = 3 * (row * width + column);
            for (int i = at; i < at + 3; i++) {
                rgb[i] = clamped((rgb[i] & 0xff) + value);
            }
        }
    }

    private record Part(int left, int top, int width, int height) {
        /** Returns a rectangle of 0.2 to 3 % of the image. */
        static Part of(Canvas canvas, SplittableRandom random) {
            double area = random.nextDouble(0.002, 0.03) * canvas.width * canvas.height;
            double aspect = Math.exp(random.nextDouble(-1.2, 1.2));
            int width = side(Math.sqrt(area * aspect), canvas.width);
            int height = side(Math.sqrt(area / aspect), canvas.height);
            return new Part(
                    random.nextInt(canvas.width - width + 1),
                    random.nextInt(canvas.height - height + 1),
                    width,
                    height);
        }

        /** Returns a length of at least 2 pixels and at most half of the image, if it has so many. */
        private static int side(double wanted, int whole) {
            int least = Math.min(2, whole);
            return (int) Math.clamp(wanted, least, Math.max(least, whole / 2.0));
        }
    }
}
