package org.gramian.run.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Optional;
import org.gramian.image.augment.Augmentation;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.linear.LinearSolver;
import org.gramian.pooling.Fidelity;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;

/**
 * Configuration of a training run. Every component is a key of YAML files and {@code --set}; its {@link Key} declares name,
 * description, default and option. The options of {@code train}, {@code compare} and Spark's {@code train}, their help,
 * config.yaml and docs/options.md follow from it.
 *
 * <p>Components of {@link Settings} that are not complete are null.
 */
public record TrainConfig(
        // balanced: fine-tuning gains far more accuracy than the extra time of best
        @Key(
                name = "quality",
                help = "fast: frozen backbone; balanced: may fine-tune on a GPU; best: larger images, longer training",
                defaultValue = "balanced",
                option = "--quality WORD")
        Quality quality,

        @Key(
                name = "data.layout",
                help = "directory layout of the dataset",
                rule = "detected",
                values = "LAYOUT",
                option = "--layout LAYOUT")
        String layout,

        @Key(
                name = "data.protocol",
                help = "train/test splits, e.g. holdout:0.2 or thirds:3",
                rule = "the official split of a known dataset, else holdout:0.2",
                option = "--protocol PROTOCOL")
        Protocol protocol,

        // the whole image: a centre crop omits 23 % of a square image; the paper's 15 crops take 15 times as long
        @Key(
                name = "data.crops",
                help = "crops of an image, e.g. resize:320 (the whole image), center:224+flips or paper",
                rule = "resize:224, or resize:320 for backbones pretrained on larger images",
                option = "--crops CROPS",
                spark = true)
        CropPlan crops,

        // a larger size than in training often gains accuracy
        @Key(
                name = "data.test-crops",
                help = "crops for validation, test and prediction, e.g. resize:288+flips; same: the test crops of"
                        + " data.crops",
                defaultValue = "same",
                empty = "same",
                option = "--test-crops CROPS")
        Optional<CropPlan> testCrops,

        // unused without fine-tuning: features of a frozen backbone are computed once
        @Key(
                name = "data.augment",
                help = "augmentation in fine-tuning: none, light, standard, strong or e.g. light+erase:0.25",
                rule = "none; standard to fine-tune with adamw",
                values = "none|light|standard|strong[+PART:VALUE]...",
                option = "--augment POLICY")
        Augmentation augment,

        // a tenth: a smaller set is too noisy to rank epochs, a larger one takes too many images from training
        @Key(
                name = "data.validation",
                help = "fraction of training images for validation, in place of the dataset's own set; 0: none",
                rule = "0.1 if the head or all layers are trained by epochs, else 0",
                below = 1,
                option = "--validation FRACTION",
                spark = true)
        Double validation,

        // together: near-duplicates of training images in the test set would inflate the accuracy
        @Key(
                name = "data.near-duplicates",
                help = "near-duplicates: on one side of random splits, in one fold (together), or like other images"
                        + " (ignore)",
                rule = "together; ignore with fidelity paper or authors",
                values = "together|ignore",
                option = "--near-duplicates WORD")
        Boolean nearDuplicates,

        // float32: float16 overflows in backbones without normalization; on FMD it has the same accuracy
        @Key(
                name = "data.feature-type",
                help = "precision of cached features",
                defaultValue = "f32",
                values = "f32|f16")
        DType featureType,

        @Key(
                name = "network.backbone",
                help = "backbone, e.g. googlenet, or FILE.onnx; 'gramian backbones' lists all",
                rule = BackboneRanking.RULE,
                values = "NAME",
                option = "--backbone NAME",
                spark = true)
        String backbone,

        @Key(
                name = "network.layer",
                help = "layer whose feature maps are pooled; a+b concatenates the channels of two layers",
                rule = "the backbone's default layer; two layers with the pooling auto",
                values = "LAYER",
                option = "--layer LAYER",
                spark = true)
        String layer,

        @Key(
                name = "network.weights",
                help = "pretrained weights: a name of 'gramian weights list' or a file; none: no weights",
                rule = "the installed weights of the backbone",
                values = "FILE",
                empty = "none",
                option = "--weights FILE",
                spark = true)
        Optional<String> weights,

        // a text: its defaults depend on the fidelity, see NetworkConfig.pooling
        @Key(
                name = "network.pooling",
                help = "pooling: auto (compares some), a method of 'gramian methods', or stages joined by '/'",
                rule = "auto; default if the head is trained by epochs",
                values = "SPEC",
                option = "--pooling SPEC",
                spark = true)
        String pooling,

        // softmax, except for methods that were published with another classifier
        @Key(
                name = "network.classifier",
                help = "softmax (trained by epochs), svm[:C=NUMBER], mean, lda[:shrinkage=NUMBER]",
                rule = "the classifier of the pooling method, else softmax",
                values = "CLASSIFIER",
                empty = "softmax",
                option = "--classifier WORD",
                spark = true)
        Optional<LinearSolver> classifier,

        // off as in the paper; the authors' code has it
        @Key(name = "network.logit-norm", help = "batch normalization of the logits", defaultValue = "false")
        Boolean logitNorm,

        @Key(
                name = "network.dropout",
                help = "dropout rate before the classifier",
                rule = "0.2 in fine-tuning with adamw, else 0",
                below = 1,
                option = "--dropout FRACTION",
                spark = true)
        Double dropout,

        @Key(
                name = "stage1.epochs",
                help = "maximum epochs of training the head on a frozen backbone; 0: none",
                rule = "15; up to 60 if 15 epochs have fewer than 150 steps",
                option = "--epochs N",
                spark = true)
        Integer stage1Epochs,

        @Key(
                name = "stage1.rate",
                help = "learning rate of the head",
                rule = "1, or 0.1 if the pooling trains codewords; 0.002 with adamw",
                option = "--lr --learning-rate RATE",
                spark = true)
        Double stage1Rate,

        @Key(
                name = "stage1.per-length",
                help = "divide the classifier's learning rate by the mean squared norm of the centred descriptors",
                rule = "true with sgd if stage1.rate is unset and pooling has no final l2")
        Boolean perLength,

        // plateau stops early, so that the number of epochs is only an upper bound
        @Key(
                name = "stage1.schedule",
                help = "learning rate schedule: constant, steps:6,7, cosine or plateau[:PATIENCE[,DROPS]]",
                rule = "plateau:2,2; cosine if an epoch has fewer than 25 steps",
                option = "--schedule SCHEDULE",
                spark = true)
        Schedule stage1Schedule,

        @Key(name = "stage1.warmup", help = "warm-up epochs", defaultValue = "0")
        Double stage1Warmup,

        // gradient steps seldom reach the optimum of the linear classifier; a solver reaches it within seconds
        @Key(
                name = "stage1.refit",
                help = "solver that refits the classifier after training, if validation accuracy does not fall; none:"
                        + " off",
                rule = "svm if the head is trained by epochs with softmax, else none",
                empty = "none")
        Optional<LinearSolver> stage1Refit,

        @Key(
                name = "stage2.epochs",
                help = "maximum epochs of fine-tuning all layers; 0: frozen backbone",
                rule = "20 on a GPU with at least " + Quality.FINE_TUNED_IMAGES + " images, else 0",
                option = "--fine-tune N")
        Integer stage2Epochs,

        @Key(
                name = "stage2.rate",
                help = "learning rate of fine-tuning",
                rule = "0.001, or 0.002 with adamw",
                option = "--fine-tune-lr RATE")
        Double stage2Rate,

        @Key(
                name = "stage2.backbone-rate",
                help = "factor on stage2.rate for the backbone",
                rule = "0.1 with adamw; else 1, or 0.1 for efficientnet-lite4",
                option = "--backbone-rate FACTOR")
        Double backboneRate,

        @Key(
                name = "stage2.layer-decay",
                help = "layer-wise learning rate decay of the backbone, per block; 1: none",
                defaultValue = "1",
                min = Double.MIN_VALUE,
                max = 1)
        Double layerDecay,

        // as in the paper with a patience of one epoch, since an epoch of fine-tuning is expensive
        @Key(
                name = "stage2.schedule",
                help = "learning rate schedule of fine-tuning, as stage1.schedule",
                rule = "cosine with adamw, else plateau:1,2")
        Schedule stage2Schedule,

        @Key(
                name = "stage2.warmup",
                help = "warm-up epochs of fine-tuning",
                rule = "0.08 times stage2.epochs with adamw; else 0, or 1 for efficientnet-lite4")
        Double stage2Warmup,

        // smaller than test images: random resized crops enlarge objects (FixRes), and a smaller area trains faster
        @Key(
                name = "stage2.image-size",
                help = "size of augmented training crops in fine-tuning, in pixels",
                rule = "the size of data.crops; with adamw 0.7 times that for crops above 256",
                min = 1)
        Integer stage2ImageSize,

        @Key(
                name = "optimizer.batch",
                help = "batch size",
                rule = "32; 8 for fewer than 320 crops; 64 in fine-tuning with adamw on 640+ images",
                min = 1,
                option = "--batch --batch-size N",
                spark = true)
        Integer batch,

        // larger values emulate a larger batch if memory is short
        @Key(
                name = "optimizer.accumulate",
                help = "gradient accumulation: batches per optimizer step",
                defaultValue = "1",
                min = 1)
        Integer accumulate,

        @Key(
                name = "optimizer.name",
                help = "optimizer: sgd (with momentum) or adamw (with Riemannian Adam on the Stiefel manifold)",
                rule = "adamw if the backbone is fine-tuned, else sgd",
                option = "--optimizer NAME",
                spark = true)
        UpdateRule optimizer,

        @Key(name = "optimizer.momentum", help = "momentum of sgd", defaultValue = "0.9", below = 1)
        Double momentum,

        @Key(
                name = "optimizer.beta1",
                help = "beta1 of adamw: decay of the first moment",
                defaultValue = "0.9",
                below = 1)
        Double beta1,

        @Key(
                name = "optimizer.beta2",
                help = "beta2 of adamw: decay of the second moment",
                defaultValue = "0.999",
                below = 1)
        Double beta2,

        @Key(
                name = "optimizer.weight-decay",
                help = "weight decay",
                rule = "0.0005, or 0.02 with adamw",
                option = "--weight-decay NUMBER",
                spark = true)
        Double weightDecay,

        @Key(
                name = "optimizer.clip",
                help = "gradient clipping: maximum norm over all parameters; 0: off",
                rule = "5 in fine-tuning with adamw, else 0",
                option = "--clip NORM",
                spark = true)
        Double clip,

        // off: in short runs the moving average lags behind the weights
        @Key(
                name = "optimizer.ema",
                help = "decay of the exponential moving average of the weights (EMA), e.g. 0.999; 0: off",
                defaultValue = "0",
                below = 1,
                option = "--ema DECAY",
                spark = true)
        Double ema,

        @Key(
                name = "optimizer.label-smoothing",
                help = "label smoothing, e.g. 0.1",
                rule = "0.1 in fine-tuning with adamw, else 0",
                below = 1,
                option = "--label-smoothing FRACTION")
        Double labelSmoothing,

        // none: most benchmark datasets are balanced, and accuracy weights every image equally
        @Key(
                name = "optimizer.class-weights",
                help = "class weights of the loss: none, or balanced (inverse to the class size)",
                defaultValue = "none",
                option = "--class-weights WORD")
        ClassWeights classWeights,

        @Key(
                name = "optimizer.mixup",
                help = "mixup alpha in fine-tuning; 0: off",
                rule = "0.2 with data.augment=strong, else 0",
                below = 1000,
                option = "--mixup ALPHA")
        Double mixup,

        @Key(
                name = "optimizer.cutmix",
                help = "CutMix alpha in fine-tuning; 0: off",
                rule = "1 with data.augment=strong, else 0",
                below = 1000,
                option = "--cutmix ALPHA")
        Double cutmix,

        // on an H200, GoogLeNet fine-tunes on 1,750 crops/s in float32 and 3,230 in bfloat16 (docs/gpu.md)
        @Key(
                name = "optimizer.precision",
                help = "precision of training on a GPU: f32, tf32, or bf16 (mixed precision: backbone bf16, head tf32)",
                rule = "bf16 in fine-tuning with adamw on a GPU, else f32")
        Precision precision,

        @Key(
                name = "stiefel.multiplier",
                help = "factor on the learning rate of Stiefel matrices (orthonormal columns)",
                rule = "0.001, or 10 with adamw")
        Double multiplier,

        @Key(
                name = "stiefel.metric",
                help = "Riemannian metric of the gradient on the Stiefel manifold",
                defaultValue = "canonical")
        Stiefel.Metric metric,

        @Key(name = "stiefel.retraction", help = "retraction onto the Stiefel manifold", defaultValue = "qr")
        Retraction retraction,

        // used by the authors' code only
        @Key(
                name = "stiefel.constant-rate",
                help = "constant learning rate of Stiefel matrices, without momentum; none: use stiefel.multiplier",
                defaultValue = "none",
                empty = "none")
        Optional<Double> constantRate,

        @Key(
                name = "fidelity",
                help = "formulas and recipe: corrected, paper (as printed) or authors (as in their code)",
                defaultValue = "corrected",
                option = "--fidelity WORD")
        Fidelity fidelity,

        @Key(
                name = "seed",
                help = "random seed of initialization, shuffling, crops and splits",
                defaultValue = "0",
                option = "--seed N",
                spark = true)
        Long seed,

        // on: it costs little compared with training, and the report needs it; compare turns it off by default
        @Key(
                name = "gallery",
                help = "store thumbnails, short descriptors and statistics of the pooling for the report",
                defaultValue = "true",
                option = "--no-gallery")
        Boolean gallery,

        // off: history.csv has the same values
        @Key(
                name = "tensorboard",
                help = "write loss, accuracy and learning rate of each epoch for TensorBoard",
                defaultValue = "false",
                option = "--tensorboard")
        Boolean tensorboard,

        @Key(
                name = "accelerate",
                help = "on; off: compute everything by plain layers; or rules to leave out, e.g. -stem,-tokens",
                rule = "GRAMIAN_ACCELERATE, else on",
                values = "RULES")
        String accelerate) {
    /** Returns the crops for validation, test and prediction. */
    public CropPlan testPlan() {
        return testCrops.orElse(crops);
    }

    /** Declares a key: its name in YAML, its description, its default and its option. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.RECORD_COMPONENT)
    @interface Key {
        /** Section and name, e.g. {@code stage1.rate}. */
        String name();

        /** Description in one line. */
        String help();

        /** Fixed default; empty if {@link DefaultResolver} chooses the value. */
        String defaultValue() default "";

        /** Describes the value that is chosen automatically. */
        String rule() default "";

        /** Notation of the values; by default that of the type. */
        String values() default "";

        /** Word of an empty {@link Optional}. */
        String empty() default "";

        double min() default 0;

        double max() default Double.MAX_VALUE;

        /** Exclusive upper bound. */
        double below() default Double.MAX_VALUE;

        /** Names of the option and label of its value, e.g. {@code --lr --learning-rate RATE}; without label it negates the default. */
        String option() default "";

        /** Whether Spark's {@code train} has the option. */
        boolean spark() default false;
    }

    /** Effort of a run: the trade-off between time and accuracy for unset options. */
    public enum Quality {
        /** Frozen features of small images, a classifier fitted by a solver. */
        FAST,
        /** Frozen features, then fine-tuning on a GPU with enough images. */
        BALANCED,
        /** Larger images, mirrored test crops, longer fine-tuning. */
        BEST;

        /** Number of images from which fine-tuning on a GPU gained accuracy; FMD and dtd10 have fewer. */
        public static final int FINE_TUNED_IMAGES = 1500;
    }

    /** The optimizer. */
    public enum UpdateRule {
        /** Stochastic gradient descent with momentum. */
        SGD,
        /** Adam with decoupled weight decay. */
        ADAMW
    }
}
