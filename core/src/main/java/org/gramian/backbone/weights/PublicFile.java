package org.gramian.backbone.weights;

import java.util.List;
import java.util.Optional;
import org.gramian.backbone.Licence;

/**
 * A file of weights that anybody can download: those of torchvision, each with the first digits of its SHA-256 in its
 * name.
 *
 * @param name what the weights are called here
 * @param file the published name
 * @param mebibytes its size as published, for people
 * @param about what it is
 * @see <a href="https://docs.pytorch.org/vision/stable/models.html">torchvision's models</a>
 */
public record PublicFile(String name, String file, double mebibytes, String about) {
    /** The folder of all of them. */
    public static final String BASE = "https://download.pytorch.org/models/";

    private static final String FIRST = "torchvision, IMAGENET1K_V1";

    private static final List<PublicFile> ALL = List.of(
            new PublicFile("vgg16", "vgg16-397923af.pth", 527.8, FIRST),
            new PublicFile("vgg19", "vgg19-dcbb9e9d.pth", 548.1, FIRST),
            new PublicFile("resnet18", "resnet18-f37072fd.pth", 44.7, FIRST),
            new PublicFile("resnet50", "resnet50-0676ba61.pth", 97.8, FIRST),
            new PublicFile("resnet50-v2", "resnet50-11ad3fa6.pth", 97.8, "torchvision, IMAGENET1K_V2"),
            new PublicFile("squeezenet", "squeezenet1_1-b8a52dc0.pth", 4.7, FIRST));

    /** All of them. */
    public static List<PublicFile> all() {
        return ALL;
    }

    /** The one of a name. */
    public static Optional<PublicFile> of(String name) {
        return ALL.stream().filter(known -> known.name.equals(name)).findFirst();
    }

    /** The one with a SHA-256, of which as many digits are compared as are published. */
    static Optional<PublicFile> ofSha256(String sha256) {
        return ALL.stream()
                .filter(known -> sha256.startsWith(known.sha256Prefix()))
                .findFirst();
    }

    /** The publisher's licence. */
    public String licence() {
        return Licence.TORCHVISION.text();
    }

    /** The first digits of the file's SHA-256, as its name ends with them. */
    public String sha256Prefix() {
        return file.substring(file.lastIndexOf('-') + 1, file.lastIndexOf('.'));
    }
}
