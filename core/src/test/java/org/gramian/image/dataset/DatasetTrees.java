package org.gramian.image.dataset;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Small trees in exactly the published layouts; the files hold their names instead of images. */
public final class DatasetTrees {
    private DatasetTrees() {}

    /** Writes a file that holds its own path, so that no two are alike. */
    public static void file(Path root, String path) throws IOException {
        file(root, path, root.resolve(path).toString());
    }

    public static void file(Path root, String path, String content) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    /** {@code CLASS/CLASS_0001.jpg}. */
    public static void folders(Path root, int perClass, String... classes) throws IOException {
        for (String category : classes) {
            for (int i = 1; i <= perClass; i++) {
                file(root, "%s/%s_%04d.jpg".formatted(category, category, i));
            }
        }
    }

    /** {@code train/CLASS/a.jpg}, and so on for every part named. */
    public static void splits(Path root, List<String> parts, String... classes) throws IOException {
        for (String part : parts) {
            folders(root.resolve(part), 2, classes);
        }
    }

    /** DTD: {@code images/}, and the lists of ten splits in {@code labels/}, in which parts rotate. */
    public static void dtd(Path root, int perClass, String... classes) throws IOException {
        folders(root.resolve("images"), perClass, classes);
        dtdLists(root.resolve("labels"), perClass, classes);
        file(root, "labels/labels_joint_anno.txt", "banded/banded_0001.jpg banded striped\n");
        file(root, "imdb/imdb.mat");
    }

    /** An image's part moves on from split to split, by its number. */
    public static void dtdLists(Path labels, int perClass, String... classes) throws IOException {
        List<String> parts = List.of("train", "val", "test");
        for (int split = 1; split <= 10; split++) {
            for (int part = 0; part < parts.size(); part++) {
                List<String> list = new ArrayList<>();
                for (String category : classes) {
                    for (int i = 1 + (part + split) % 3; i <= perClass; i += 3) {
                        list.add("%s/%s_%04d.jpg".formatted(category, category, i));
                    }
                }
                lines(labels, parts.get(part) + split + ".txt", list);
            }
        }
    }

    /** FMD: {@code image/CLASS/*.jpg} and {@code mask/CLASS/*.jpg}. */
    public static void fmd(Path root, int perClass, String... classes) throws IOException {
        folders(root.resolve("image"), perClass, classes);
        folders(root.resolve("mask"), perClass, classes);
        file(root, "image/Thumbs.db");
    }

    /** KTH-TIPS-2b: {@code CLASS/sample_a/22a-scale_2_im_1_col.png} to {@code sample_d}. */
    public static void kth(Path root, int perSample, String... classes) throws IOException {
        for (String category : classes) {
            for (String letter : List.of("a", "b", "c", "d")) {
                for (int i = 1; i <= perSample; i++) {
                    file(root, "%s/sample_%s/22%s-scale_2_im_%d_col.png".formatted(category, letter, letter, i));
                }
            }
        }
    }

    /** CUB-200-2011: the first image of every class tests, the others train. */
    public static void cub(Path root, int perClass, String... birds) throws IOException {
        List<String> images = new ArrayList<>();
        List<String> labels = new ArrayList<>();
        List<String> classes = new ArrayList<>();
        List<String> split = new ArrayList<>();
        List<String> boxes = new ArrayList<>();
        for (String bird : birds) {
            String category = "%03d.%s".formatted(classes.size() + 1, bird);
            classes.add((classes.size() + 1) + " " + category);
            for (int i = 1; i <= perClass; i++) {
                int id = images.size() + 1;
                String path = "%s/%s_%04d_%d.jpg".formatted(category, bird, i, id);
                file(root, "images/" + path);
                images.add(id + " " + path);
                labels.add(id + " " + classes.size());
                split.add(id + (i == 1 ? " 0" : " 1"));
                boxes.add(id + " 60.0 27.0 325.0 " + (300 + id) + ".0");
            }
        }
        lines(root, "images.txt", images);
        lines(root, "image_class_labels.txt", labels);
        lines(root, "classes.txt", classes);
        lines(root, "train_test_split.txt", split);
        lines(root, "bounding_boxes.txt", boxes);
    }

    /** FGVC-Aircraft: one image of every variant in each of train, val and test. */
    public static void aircraft(Path root) throws IOException {
        List<List<String>> planes = List.of(
                List.of("707-320", "Boeing 707", "Boeing"),
                List.of("Cessna 172", "Cessna 172", "Cessna"),
                List.of("F/A-18", "F/A-18", "McDonnell Douglas"),
                List.of("737-200", "Boeing 737", "Boeing"));
        List<String> levels = List.of("variant", "family", "manufacturer");
        List<String> parts = List.of("train", "val", "test");
        for (int level = 0; level < levels.size(); level++) {
            List<String> trainval = new ArrayList<>();
            for (int part = 0; part < parts.size(); part++) {
                List<String> list = new ArrayList<>();
                for (int plane = 0; plane < planes.size(); plane++) {
                    String id = "00%d%d".formatted(plane + 1, part);
                    file(root, "data/images/" + id + ".jpg");
                    list.add(id + " " + planes.get(plane).get(level));
                }
                lines(root, "data/images_" + levels.get(level) + "_" + parts.get(part) + ".txt", list);
                trainval.addAll(part < 2 ? list : List.of());
            }
            lines(root, "data/images_" + levels.get(level) + "_trainval.txt", trainval);
        }
        file(root, "data/images_box.txt", "0010 3 144 998 431\n");
        file(root, "evaluation.m");
    }

    public static void lines(Path root, String path, List<String> lines) throws IOException {
        file(root, path, String.join("\n", lines) + "\n");
    }

    /** A dataset in memory, with so many images of each class. */
    public static Dataset inMemory(int... counts) {
        List<String> classes = new ArrayList<>();
        List<Sample> samples = new ArrayList<>();
        for (int label = 0; label < counts.length; label++) {
            String category = "class%03d".formatted(label);
            classes.add(category);
            for (int i = 0; i < counts[label]; i++) {
                String name = "%s/%05d.jpg".formatted(category, i);
                samples.add(new Sample(name, label, Path.of(name), Optional.empty()));
            }
        }
        return new Dataset(Path.of("memory"), classes, samples);
    }

    /** The text of the note of a kind, or nothing where there is none. */
    public static String note(List<Note> notes, Note.Kind kind) {
        return notes.stream()
                .filter(note -> note.kind() == kind)
                .map(Note::text)
                .findFirst()
                .orElse("");
    }
}
