package org.gramian.run.config;

import java.util.List;
import java.util.SplittableRandom;

/** Configurations drawn at random: every key takes several values, odd ones among them. */
final class RandomConfigs {
    private final SplittableRandom random;

    RandomConfigs(SplittableRandom random) {
        this.random = random;
    }

    private static final List<String> NETWORKS = List.of(
            "googlenet inception_4e googlenet-bvlc",
            "filters bank none",
            "efficientnet-lite4 block20 weights/lite 4.safetensors",
            "vgg16 conv5_3 C:\\weights\\vgg #16: \"caffe\".pth",
            "squeezenet fire9 'null'",
            "resnet18 layer4 null",
            "resnet18 layer4 - a",
            "resnet50 layer3 ../weights/Größe\t*&!.bin");

    /** Returns valid values of all keys. */
    Settings next() {
        String[] network = pick(NETWORKS.toArray(String[]::new)).split(" ", 3);
        Settings settings = Settings.NONE
                .with("network.backbone", network[0])
                .with("network.layer", network[1])
                .with("network.weights", network[2]);
        for (ConfigKey<?> key : ConfigKey.all()) {
            if (!settings.has(key.name())) {
                settings = settings.with(key.name(), text(key));
            }
        }
        return settings.with(
                "network.pooling", settings.get(TrainConfig.FIDELITY).textOf(NetworkConfig.pooling(settings)));
    }

    /** Returns a valid text of a key. */
    String text(ConfigKey<?> key) {
        return switch (key.name()) {
            case "data.layout" ->
                pick("folders", "fmd", "dtd:lists of mine/# 1", "csv:C:\\pictures: all", "fgvc-aircraft:family");
            case "data.protocol" -> pick("holdout:0.25", "thirds:3", "kfold:7", "given", "dtd-official:1..3");
            case "data.crops" -> pick("center+flips", "paper:96", "ten", "resize:300+flips+box");
            case "data.augment" -> pick("none", "light", "standard", "strong+erase:0.125", "none+flip:0.5+scale:0.75");
            case "data.test-crops" -> pick("same", "resize:288+flips", "ten:96");
            case "network.pooling" ->
                pick("paper", "bcnn", "average", "isqrt", "rbf:sigma=2.5,jitter=0/triu/root:eps=0/l2");
            case "network.classifier" -> "softmax"; // the others allow no epochs
            case "stage1.rate", "stage2.rate" -> number();
            case "stage1.refit" -> pick("none", "svm", "lda:shrinkage=0.1");
            case "stiefel.constant-rate" -> pick("none", number());
            case "network.layer" -> "conv5_3";
            case "network.backbone" -> "vgg16";
            case "network.weights" -> pick("none", "vgg16", "my weights.pth");
            case "stage1.schedule", "stage2.schedule" ->
                pick("constant", "steps:6,7", "cosine", "plateau", "plateau:3,4");
            case "accelerate" -> pick("on", "off", "-stem,-tokens");
            case "seed" -> Long.toString(random.nextLong());
            default -> generic(key);
        };
    }

    private String generic(ConfigKey<?> key) {
        return switch (key.values()) {
            case "N" -> Integer.toString(random.nextInt(1, 500));
            case "NUMBER" ->
                key.name().matches(".*(validation|momentum|smoothing|beta1|beta2|ema|mixup|cutmix|dropout|unknown)")
                        ? share()
                        : number();
            default -> pick(key.values().split("\\|"));
        };
    }

    private String share() {
        return Double.toString(random.nextDouble());
    }

    private String number() {
        return Double.toString(random.nextDouble() * Math.pow(10, random.nextInt(-12, 12)));
    }

    private String pick(String... texts) {
        return texts[random.nextInt(texts.length)];
    }
}
