package org.gramian.backbone;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.gramian.backbone.BackboneInfo.Licence;

/**
 * Public weight file of a backbone.
 *
 * @param name name of the weights: that of the backbone, or of a variant with a hyphen
 * @param sha256 SHA-256 of the file, or its first digits as far as the publisher states them, at least 8
 * @param about publisher and version
 */
public record PublicFile(String name, URI url, String sha256, double mebibytes, String about, String licence) {
    private static final int SHA256_DIGITS = 64;
    private static final String TORCHVISION = "https://download.pytorch.org/models/";
    private static final String DINO_V2 = "https://dl.fbaipublicfiles.com/dinov2/";

    /** @throws IllegalArgumentException if the address names no file or the SHA-256 is not one */
    public PublicFile {
        if (!sha256.matches("[0-9a-f]{8,64}") || file(url).isEmpty()) {
            throw new IllegalArgumentException(name + ": expected the address of a file and at least 8 digits of its"
                    + " SHA-256, found " + url + " and " + sha256);
        }
    }

    /**
     * Returns a file of torchvision, whose name ends in the first digits of the SHA-256.
     *
     * @param sha256 all digits, as independent users of the file state them; empty if only those in the name are known
     * @see <a href="https://docs.pytorch.org/vision/stable/models.html">torchvision's models</a>
     */
    static PublicFile torchvision(String name, String file, double mebibytes, int version, String sha256) {
        String first = file.substring(file.lastIndexOf('-') + 1, file.lastIndexOf('.'));
        if (!sha256.isEmpty() && !sha256.startsWith(first)) {
            throw new IllegalArgumentException(
                    file + ": expected a SHA-256 that starts with " + first + ", found " + sha256);
        }
        return new PublicFile(
                name,
                URI.create(TORCHVISION + file),
                sha256.isEmpty() ? first : sha256,
                mebibytes,
                "torchvision, IMAGENET1K_V" + version,
                Licence.TORCHVISION.text());
    }

    /**
     * Returns a file of DINOv2 without head.
     *
     * @param model model and variant, such as {@code dinov2_vits14_reg4}
     * @see <a href="https://github.com/facebookresearch/dinov2">DINOv2</a>
     */
    static PublicFile dinoV2(String name, String model, double mebibytes, String sha256) {
        String folder = model.replace("_reg4", "");
        return new PublicFile(
                name,
                URI.create(DINO_V2 + folder + "/" + model + "_pretrain.pth"),
                sha256,
                mebibytes,
                "Meta AI, DINOv2",
                Licence.DINO_V2.text());
    }

    /**
     * Returns a file of the ONNX model zoo.
     *
     * @see <a href="https://github.com/onnx/models/blob/main/ONNX_HUB_MANIFEST.json">its checksums</a>
     */
    static PublicFile onnxZoo(String name, String url, double mebibytes, String sha256, Licence licence) {
        return new PublicFile(name, URI.create(url), sha256, mebibytes, "ONNX model zoo", licence.text());
    }

    /** Returns the public files of all backbones. */
    public static List<PublicFile> all() {
        return Backbones.all().stream()
                .flatMap(backbone -> backbone.about().weights().files().stream())
                .toList();
    }

    /** Returns the file of a name. */
    public static Optional<PublicFile> of(String name) {
        return all().stream().filter(known -> known.name.equals(name)).findFirst();
    }

    /** Returns the file with a SHA-256, compared by the published digits. */
    public static Optional<PublicFile> ofSha256(String sha256) {
        return all().stream().filter(known -> known.matches(sha256)).findFirst();
    }

    /** Returns whether a SHA-256 is that of this file, as far as it is published. */
    public boolean matches(String found) {
        return found.startsWith(sha256);
    }

    /** Returns whether only some digits of the SHA-256 are known, which a forged file can match. */
    public boolean isWeak() {
        return sha256.length() < SHA256_DIGITS;
    }

    /** Returns the published file name. */
    public String file() {
        return file(url);
    }

    private static String file(URI url) {
        String path = url.getPath();
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
