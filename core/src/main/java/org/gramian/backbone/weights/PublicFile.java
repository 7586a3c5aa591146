package org.gramian.backbone.weights;

import java.util.List;
import java.util.Optional;
import org.gramian.backbone.BackboneInfo.Licence;

/**
 * Public weight file of torchvision, with the first digits of its SHA-256 in its name.
 *
 * @param name name of the weights
 * @param file published file name
 * @param mebibytes published size
 * @param about description
 * @see <a href="https://docs.pytorch.org/vision/stable/models.html">torchvision's models</a>
 */
public record PublicFile(String name, String file, double mebibytes, String about) {
    /** URL of the folder of all files. */
    public static final String BASE = "https://download.pytorch.org/models/";

    private static final String FIRST = "torchvision, IMAGENET1K_V1";

    private static final List<PublicFile> ALL = List.of(
            new PublicFile("vgg16", "vgg16-397923af.pth", 527.8, FIRST),
            new PublicFile("vgg19", "vgg19-dcbb9e9d.pth", 548.1, FIRST),
            new PublicFile("resnet18", "resnet18-f37072fd.pth", 44.7, FIRST),
            new PublicFile("resnet50", "resnet50-0676ba61.pth", 97.8, FIRST),
            new PublicFile("resnet50-v2", "resnet50-11ad3fa6.pth", 97.8, "torchvision, IMAGENET1K_V2"),
            new PublicFile("squeezenet", "squeezenet1_1-b8a52dc0.pth", 4.7, FIRST));

    /** Returns all public files. */
    public static List<PublicFile> all() {
        return ALL;
    }

    /** Returns the file of a name. */
    public static Optional<PublicFile> of(String name) {
        return ALL.stream().filter(known -> known.name.equals(name)).findFirst();
    }

    /** Returns the file with a SHA-256, compared by the published digits. */
    static Optional<PublicFile> ofSha256(String sha256) {
        return ALL.stream()
                .filter(known -> sha256.startsWith(known.sha256Prefix()))
                .findFirst();
    }

    /** Returns the publisher's licence. */
    public String licence() {
        return Licence.TORCHVISION.text();
    }

    /** Returns the first digits of the file's SHA-256, from its name. */
    String sha256Prefix() {
        return file.substring(file.lastIndexOf('-') + 1, file.lastIndexOf('.'));
    }
}
