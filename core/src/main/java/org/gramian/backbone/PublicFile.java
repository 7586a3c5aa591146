package org.gramian.backbone;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.gramian.backbone.BackboneInfo.Licence;

/**
 * Public weight file of a backbone.
 *
 * @param name name of the weights: that of the backbone, or of a variant with a hyphen
 * @param about publisher and version
 */
public record PublicFile(String name, URI url, String sha256, double mebibytes, String about, String licence) {
    private static final String TORCHVISION = "https://download.pytorch.org/models/";
    private static final String DINO_V2 = "https://dl.fbaipublicfiles.com/dinov2/";

    /**
     * Name, mebibytes, publisher, address and SHA-256 of each file. The publishers are torchvision (version of its weights; the
     * names of files end in the first digits of the SHA-256), DINOv2 (files without head) and the ONNX model zoo (licence).
     *
     * @see <a href="https://docs.pytorch.org/vision/stable/models.html">torchvision's models</a>
     * @see <a href="https://github.com/facebookresearch/dinov2">DINOv2</a>
     * @see <a href="https://github.com/onnx/models/blob/main/ONNX_HUB_MANIFEST.json">checksums of the ONNX model zoo</a>
     */
    private static final List<PublicFile> ALL =
            """
            resnet18 44.7 V1 resnet18-f37072fd.pth f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec
            resnet50 97.8 V1 resnet50-0676ba61.pth 0676ba61b6795bbe1773cffd859882e5e297624d384b6993f7c9e683e722fb8a
            resnet50-v2 97.8 V2 resnet50-11ad3fa6.pth 11ad3fa62ca79e40addfd354a8ec4b7c75143b3038b8d2a807fbc68deab379ca
            googlenet 26.7 BVLC https://huggingface.co/onnxmodelzoo/googlenet-12/resolve/main/googlenet-12.onnx c99c507058eaf41de8723408fdda7db8325cb57f0a89f2ee07a716d6e963e14e
            squeezenet 4.7 V1 squeezenet1_1-b8a52dc0.pth b8a52dc049b60e4b6ab68ad0df457362afab8b6304b2febdc1650a5dab4d7e7b
            efficientnet-lite4 49.5 GOOGLE https://huggingface.co/onnx/EfficientNet-Lite4/resolve/main/efficientnet-lite4-11.onnx d111689907c06eea7c82e4833ddef758da6453b9d4cf60b7e99ca05c7cbd9c12
            convnext_tiny 109.1 V1 convnext_tiny-983f1562.pth 983f1562536e84ff750a1576fb08e54de751dbf2e17c0d8a4a13704341fdcd3d
            convnext_small 191.7 V1 convnext_small-0c510722.pth 0c510722adfd92966a2bd72b92f785ca05966bbac03cafe2f7a90b1f54bfab9a
            vit-b16 330.3 V1 vit_b_16-c867db91.pth c867db91d3e12c6cbadabb610d73c24a546bf82d8c03a9fea34f43a712ddb0e9
            dinov2-vits14 84.2 DINO_V2 dinov2_vits14/dinov2_vits14_pretrain.pth b938bf1bc15cd2ec0feacfe3a1bb553fe8ea9ca46a7e1d8d00217f29aef60cd9
            dinov2-vits14-reg 84.2 DINO_V2 dinov2_vits14/dinov2_vits14_reg4_pretrain.pth f433177089a681826f849f194ece3bb48f4d63fb38d32fc837e3dc7a4e5641fb
            dinov2-vitb14 330.3 DINO_V2 dinov2_vitb14/dinov2_vitb14_pretrain.pth 0b8b82f85de91b424aded121c7e1dcc2b7bc6d0adeea651bf73a13307fad8c73
            dinov2-vitb14-reg 330.3 DINO_V2 dinov2_vitb14/dinov2_vitb14_reg4_pretrain.pth 73182a088cf94833c94b1666d1c99e02fe87e2007bff57b564fb6206e25dba71
            mobilenet_v3_large 21.1 V1 mobilenet_v3_large-8738ca79.pth 8738ca797c879b547d18bbd15da5736ff2557b2036a9af72225393ca61759a04
            mobilenet_v3_large-v2 21.1 V2 mobilenet_v3_large-5c1a4163.pth 5c1a416349c4cf298f2a6a5e2600ed0ee55e604713578f5e74e6bc8bcaef7997
            efficientnet_v2_s 82.7 V1 efficientnet_v2_s-dd5fe13b.pth dd5fe13b1d60ec15317ccc8ca158186e134d3366c3dde9cb9a4e301f2dc66c74
            """.lines().map(PublicFile::parse).toList();

    private static PublicFile parse(String line) {
        String[] parts = line.split(" ", -1);
        String publisher = parts[2];
        String folder = publisher.startsWith("V") ? TORCHVISION : publisher.equals("DINO_V2") ? DINO_V2 : "";
        URI url = URI.create(folder + parts[3]);
        String about = switch (folder) {
            case TORCHVISION -> "torchvision, IMAGENET1K_" + publisher;
            case DINO_V2 -> "Meta AI, DINOv2";
            default -> "ONNX model zoo";
        };
        Licence licence = publisher.startsWith("V") ? Licence.TORCHVISION : Licence.valueOf(publisher);
        return new PublicFile(parts[0], url, parts[4], Double.parseDouble(parts[1]), about, licence.text());
    }

    /** Returns the public files of all backbones. */
    public static List<PublicFile> all() {
        return ALL;
    }

    /** Returns the file of a name. */
    public static Optional<PublicFile> of(String name) {
        return ALL.stream().filter(known -> known.name.equals(name)).findFirst();
    }

    /** Returns the file with a SHA-256. */
    public static Optional<PublicFile> ofSha256(String sha256) {
        return ALL.stream().filter(known -> known.sha256.equals(sha256)).findFirst();
    }

    /** Returns the published file name. */
    public String file() {
        String path = url.getPath();
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
