package org.gramian.pooling;

import static org.gramian.pooling.Method.Family.CODEBOOK;
import static org.gramian.pooling.Method.Family.FIRST_ORDER;
import static org.gramian.pooling.Method.Family.KERNEL;
import static org.gramian.pooling.Method.Family.NETWORK;
import static org.gramian.pooling.Method.Family.SECOND_ORDER;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Registry of all named methods. */
public final class Methods {
    private static final String PAPER = "Gao, Wu, Bu, Jia: Learning a Robust Representation via a Deep Network on"
            + " Symmetric Positive Definite Manifolds, Pattern Recognition 92, 2019";

    private static final String COMPACT = "Gao, Beijbom, Zhang, Darrell: Compact Bilinear Pooling, CVPR 2016";
    private static final String TAIL = "Simonyan, Zisserman: Very Deep Convolutional Networks for Large-Scale Image"
            + " Recognition, ICLR 2015, for VGG; for other backbones their own paper";
    /** Uses PCA, since a closed-form classifier trains no convolution. */
    private static final String LOGARITHMS = "pca:64/covariance/log/triu";

    private static final String TANGENT_SPACE =
            "Barachant, Bonnet, Congedo, Jutten: Multiclass Brain-Computer Interface"
                    + " Classification by Riemannian Geometry, IEEE Transactions on Biomedical Engineering 59, 2012";

    private static final List<Method> ALL = List.of(
            // the best of our reference figures on FMD
            new Method(
                    "default",
                    "SPD (512 conv1×1, 512→128)",
                    KERNEL,
                    "conv:512/rbf/spd:128/relu/triu/root/l2",
                    "v = root(triu(relu(W^T K W))), W in St(512, 128)",
                    PAPER),
            new Method(
                    "paper",
                    "full (512 conv1×1, 512→512)",
                    KERNEL,
                    "conv:512/rbf/spd:512/relu/triu/root/l2",
                    "v = root(triu(relu(W^T K W))), W in St(512, 512)",
                    PAPER),
            new Method("paper-kernel", "kernel only, 512 conv1×1", KERNEL, "conv:512/rbf/flat", "v = K, whole", PAPER),
            new Method(
                    "paper-kernel-128", "kernel only, 128 conv1×1", KERNEL, "conv:128/rbf/flat", "v = K, whole", PAPER),
            new Method("paper-kernel-no-conv", "kernel only, no conv1×1", KERNEL, "rbf/flat", "v = K, whole", PAPER),
            new Method(
                    "kernel",
                    "kernel, 512 conv1×1, triu/root/l2",
                    KERNEL,
                    "conv:512/rbf/triu/root/l2",
                    "v = root(triu(K))",
                    PAPER),
            new Method(
                    "kernel-128",
                    "kernel, 128 conv1×1, triu/root/l2",
                    KERNEL,
                    "conv:128/rbf/triu/root/l2",
                    "v = root(triu(K))",
                    PAPER),
            new Method(
                    "kernel-no-conv",
                    "kernel, no conv1×1, triu/root/l2",
                    KERNEL,
                    "rbf/triu/root/l2",
                    "v = root(triu(K))",
                    PAPER),
            new Method(
                    "paper-bcnn",
                    "512 conv1×1 + B-CNN",
                    KERNEL,
                    "conv:512/bilinear/triu/root/l2",
                    "v = root(triu(M M^T / N))",
                    PAPER),
            new Method(
                    "bcnn",
                    "B-CNN",
                    SECOND_ORDER,
                    "bilinear/triu/root/l2",
                    "v = root(triu(M M^T / N))",
                    "Lin, RoyChowdhury, Maji: Bilinear CNN Models for Fine-grained Visual Recognition, ICCV 2015"),
            new Method(
                    "democratic",
                    "gamma-democratic",
                    SECOND_ORDER,
                    "democratic/triu/root/l2",
                    "v = root(triu(sum of a(p) x(p) x(p)^T / N)), a(p) sum_q a(q) (x(p)^T x(q))^2 = s(p)^0.5, s = a at"
                            + " the start",
                    "Lin, Maji, Koniusz: Second-order Democratic Aggregation, ECCV 2018"),
            new Method(
                    "isqrt",
                    "iSQRT-COV",
                    SECOND_ORDER,
                    "conv:256/covariance/isqrt:5/triu",
                    "v = triu(C^(1/2)) by Newton-Schulz",
                    "Li, Xie, Wang, Gao: Towards Faster Training of Global Covariance Pooling Networks by Iterative"
                            + " Matrix Square Root Normalization, CVPR 2018"),
            new Method(
                    "mpn-cov",
                    "MPN-COV",
                    SECOND_ORDER,
                    "conv:256/covariance/sqrt/triu",
                    "v = triu(C^(1/2)) by eigenvalues",
                    "Li, Xie, Wang, Zuo: Is Second-order Information Helpful for Large-scale Visual Recognition?, ICCV"
                            + " 2017"),
            new Method(
                    "isice",
                    "iSICE",
                    SECOND_ORDER,
                    "conv:256/covariance/isice:5/triu",
                    "v = triu(S / sqrt(tr S)), S about argmin tr(C S) - log det S + 0.01 |S|_1, C of trace 1",
                    "Rahman, Koniusz, Wang, Zhou, Moghadam, Sun: Learning Partial Correlation based Deep Visual"
                            + " Representation for Image Classification, CVPR 2023"),
            new Method(
                    "dropcov",
                    "DropCov",
                    SECOND_ORDER,
                    "conv:256/dropcov/covariance/triu/l2/scale",
                    "v = s triu(C) / |triu(C)| of channels that training drops with rate 1 - 10/log2(c) cos(importance,"
                            + " row sums of C), at most 1/2",
                    "Wang, Gao, Zhang, Xie, Li, Hu: DropCov: A Simple yet Effective Method for Improving Deep"
                            + " Architectures, NeurIPS 2022"),
            new Method(
                    "log-euclidean",
                    "DeepO2P",
                    SECOND_ORDER,
                    "conv:256/covariance/log/triu",
                    "v = triu(log C)",
                    "Ionescu, Vantzos, Sminchisescu: Matrix Backpropagation for Deep Networks with Structured Layers,"
                            + " ICCV 2015"),
            new Method(
                    "cbp-ts",
                    "compact bilinear, tensor sketch",
                    SECOND_ORDER,
                    "bilinear/sketch:8192/root/l2",
                    "v_k = sum of s1_i s2_j (M M^T)_ij / N over h1_i + h2_j = k mod d; root",
                    COMPACT),
            new Method(
                    "cbp-rm",
                    "compact bilinear, random Maclaurin",
                    SECOND_ORDER,
                    "bilinear/maclaurin:8192/root/l2",
                    "v_k = w1_k^T M M^T w2_k / (N sqrt d), signs w; root",
                    COMPACT),
            new Method(
                    "so-cnn",
                    "SO-CNN",
                    SECOND_ORDER,
                    "conv:256/covariance/o2t:128/pv:1024/root/l2",
                    "v_j = root(w_j^T (A^T C A) w_j), A and w free",
                    "Yu, Salzmann: Second-order Convolutional Neural Networks, arXiv 1703.06817, 2017"),
            new Method(
                    "deep-kspd",
                    "DeepKSPD",
                    SECOND_ORDER,
                    "conv:256/rbf:sigma=learned/log/triu",
                    "v = triu(log K), sigma learned",
                    "Engin, Wang, Zhou, Liu: DeepKSPD: Learning Kernel-matrix-based SPD Representation for Fine-grained"
                            + " Image Recognition, ECCV 2018"),
            new Method(
                    "kernel-sum",
                    "RBF + covariance",
                    SECOND_ORDER,
                    "conv:256/(rbf+covariance)/log/triu",
                    "v = triu(log(K + C)), K the RBF kernel matrix and C the covariance",
                    "Shawe-Taylor, Cristianini: Kernel Methods for Pattern Analysis, Cambridge University Press, 2004"),
            new Method(
                    "spdnet",
                    "SPDNet",
                    SECOND_ORDER,
                    "conv:256/covariance/spd:128/reeig:1e-4/spd:64/reeig:1e-4/log/triu",
                    "v = triu(log Y), Y = max(W2^T max(W1^T C W1, e) W2, e) by eigenvalues",
                    "Huang, Van Gool: A Riemannian Network for SPD Matrix Learning, AAAI 2017"),
            new Method(
                    "rbn",
                    "Riemannian batch norm",
                    SECOND_ORDER,
                    "pca:64/covariance:shrinkage=0.1/rbn/log/triu",
                    "svm",
                    "v = triu(log(G^(-1/2) C G^(-1/2))), G the Riemannian barycenter of training images",
                    "Brooks, Schwander, Barbaresco, Schneider, Cord: Riemannian Batch Normalization for SPD Neural"
                            + " Networks, NeurIPS 2019"),
            new Method(
                    "gaussian",
                    "G2DeNet",
                    SECOND_ORDER,
                    "conv:256/gaussian/sqrt/triu",
                    "v = triu(G^(1/2)), G = [[C + m m^T, m], [m^T, 1]]",
                    "Wang, Li, Zhang: G2DeNet: Global Gaussian Distribution Embedding Network and Its Application to"
                            + " Visual Recognition, CVPR 2017"),
            new Method(
                    "shrinkage",
                    "covariance with shrinkage",
                    SECOND_ORDER,
                    "conv:256/covariance:shrinkage=0.1/log/triu",
                    "v = triu(log(0.9 C + 0.1 tr(C)/c I))",
                    "Ledoit, Wolf: A Well-conditioned Estimator for Large-dimensional Covariance Matrices, Journal of"
                            + " Multivariate Analysis 88, 2004"),
            new Method(
                    "tail",
                    "network tail",
                    NETWORK,
                    "tail",
                    "v = input of the last layer: fc7(fc6(pool5(M))) for VGG-16, the corresponding layers of other backbones;"
                            + " for SqueezeNet the 1000 class scores",
                    TAIL),
            new Method(
                    "paper-tail",
                    "conv1×1 + network tail",
                    NETWORK,
                    "conv:same/tail",
                    "v = tail(relu(W M + b)), as many channels as before",
                    PAPER + "; " + TAIL),
            new Method(
                    "cross-layer",
                    "cross-convolutional-layer pooling",
                    SECOND_ORDER,
                    "cross/root/l2",
                    "v = root(vec(A B^T / N)), A and B of two layers a+b",
                    "Liu, Shen, van den Hengel: The Treasure beneath Convolutional Layers: Cross-convolutional-layer"
                            + " Pooling for Image Classification, CVPR 2015"),
            new Method(
                    "sot",
                    "SoT",
                    SECOND_ORDER,
                    "sot:6,size=24",
                    "v = A B^T / N over sqrt of its largest singular value, A and B learned projections, 6 heads",
                    "Xie, Zeng, Wang, Zhou, Li: SoT: Delving Deeper into Classification Head for Transformer, arXiv"
                            + " 2104.10935, 2021"),
            new Method(
                    "mdm",
                    "log-Euclidean MDM",
                    SECOND_ORDER,
                    LOGARITHMS,
                    "mean",
                    "class k with the smallest ||log C - mean of log C over class k||",
                    TANGENT_SPACE),
            new Method(
                    "tangent-lda",
                    "tangent space LDA",
                    SECOND_ORDER,
                    LOGARITHMS,
                    "lda",
                    "v = triu(log C); shrunk LDA of v",
                    TANGENT_SPACE),
            new Method(
                    "average",
                    "average",
                    FIRST_ORDER,
                    "average",
                    "v_i = mean of map i",
                    "Lin, Chen, Yan: Network in Network, ICLR 2014"),
            new Method(
                    "mac",
                    "MAC",
                    FIRST_ORDER,
                    "max/l2",
                    "v_i = max of map i",
                    "Tolias, Sicre, Jegou: Particular Object Retrieval with Integral Max-pooling of CNN Activations,"
                            + " ICLR 2016"),
            new Method(
                    "spoc",
                    "SPoC",
                    FIRST_ORDER,
                    "sum:prior=center/l2",
                    "v_i = sum of a(p) f_i(p), a Gaussian about the centre; pca:<channels>/ before it reduces the"
                            + " channels like the authors' PCA",
                    "Babenko, Lempitsky: Aggregating Deep Convolutional Features for Image Retrieval, ICCV 2015"),
            new Method(
                    "gem",
                    "GeM",
                    FIRST_ORDER,
                    "gem:3/l2",
                    "v_i = (mean of max(f_i, 1e-6)^p)^(1/p), p learned, initially 3",
                    "Radenovic, Tolias, Chum: Fine-tuning CNN Image Retrieval with No Human Annotation, IEEE PAMI"
                            + " 2018"),
            new Method(
                    "spatial-pyramid",
                    "spatial pyramid",
                    FIRST_ORDER,
                    "pyramid:3/l2",
                    "v = means of each map over 1 + 4 + 16 cells",
                    "Lazebnik, Schmid, Ponce: Beyond Bags of Features: Spatial Pyramid Matching for Recognizing Natural"
                            + " Scene Categories, CVPR 2006; He, Zhang, Ren, Sun: Spatial Pyramid Pooling in Deep"
                            + " Convolutional Networks for Visual Recognition, ECCV 2014"),
            new Method(
                    "crow",
                    "CroW",
                    FIRST_ORDER,
                    "weighted/l2",
                    "v_i = b_i sum of s(p) f_i(p), s = sqrt(S/|S|), S = sum of max(f_k, 0) over k,"
                            + " b_i = log(sum of Q_k / Q_i), Q_i the share of positive responses",
                    "Kalantidis, Mellina, Osindero: Cross-dimensional Weighting for Aggregated Deep Convolutional"
                            + " Features, ECCV 2016 workshops"),
            new Method(
                    "radam",
                    "RADAM",
                    FIRST_ORDER,
                    "radam:4",
                    "svm",
                    "v = sum over k of X g_k^T / |g_k|^2, g_k = sigmoid(w_k^T X), X maps of length 1 plus encoded"
                            + " positions, w_k fixed random",
                    "Scabini, Zielinski, Ribas, Goncalves, De Baets, Bruno: RADAM: Texture Recognition through"
                            + " Randomized Aggregated Encoding of Deep Activation Maps, Pattern Recognition 143, 2023"),
            new Method(
                    "fv-cnn",
                    "FV-CNN",
                    CODEBOOK,
                    "fisher:64,weights=true/root:eps=0/l2/pca:most",
                    "svm",
                    "v = PCA(root(gradient of log p(M) in weights, means, deviations)), p a mixture of 64 Gaussians",
                    "Cimpoi, Maji, Vedaldi: Deep Filter Banks for Texture Recognition and Segmentation, CVPR 2015"),
            new Method(
                    "fv-fc-cnn",
                    "FV-FC-CNN",
                    CODEBOOK,
                    "[fisher:64,weights=true/root:eps=0/l2+tail/l2]/pca:most",
                    "svm",
                    "v = PCA([Fisher vector as in fv-cnn; tail of the network with unit norm])",
                    "Cimpoi, Maji, Vedaldi: Deep Filter Banks for Texture Recognition and Segmentation, CVPR 2015"),
            new Method(
                    "netvlad",
                    "NetVLAD",
                    CODEBOOK,
                    "netvlad:64/l2",
                    "v_k = sum_p softmax_k(<a_k,x_p> + b_k) (x_p - c_k), of length 1 each",
                    "Arandjelovic, Gronat, Torii, Pajdla, Sivic: NetVLAD: CNN Architecture for Weakly Supervised Place"
                            + " Recognition, CVPR 2016"),
            // published behind batch norm, which a vocabulary that begins with the data does without
            new Method(
                    "deep-ten",
                    "Deep-TEN",
                    CODEBOOK,
                    "conv:128/deepten:32/l2",
                    "v_k = sum_p softmax_k(-s_k |x_p - c_k|^2) (x_p - c_k)",
                    "Zhang, Xue, Dana: Deep TEN: Texture Encoding Network, CVPR 2017"),
            new Method(
                    "vlad",
                    "VLAD",
                    CODEBOOK,
                    "vlad:64/root/l2",
                    "svm",
                    "v_k = root(sum of x_p - c_k over p nearest to c_k, of length 1 each)",
                    "Jegou, Douze, Schmid, Perez: Aggregating Local Descriptors into a Compact Image Representation,"
                            + " CVPR 2010"),
            new Method(
                    "bow",
                    "bag of words",
                    CODEBOOK,
                    "bow:512/root/l2",
                    "svm",
                    "v_k = root(share of positions nearest to c_k)",
                    "Csurka, Dance, Fan, Willamowski, Bray: Visual Categorization with Bags of Keypoints, ECCV Workshop"
                            + " on Statistical Learning in Computer Vision, 2004"),
            new Method(
                    "mop",
                    "MOP on feature maps",
                    CODEBOOK,
                    "mop:32/l2",
                    "svm",
                    "v = [mean; VLAD of means over windows of 1/2; of 1/4 of the side], windows of feature maps"
                            + " instead of crops of the image",
                    "Gong, Wang, Guo, Lazebnik: Multi-scale Orderless Pooling of Deep Convolutional Activation"
                            + " Features, ECCV 2014"));

    private Methods() {}

    /** Returns all methods, grouped by family. */
    public static List<Method> all() {
        return ALL;
    }

    /** Finds a method by name, ignoring case. */
    public static Optional<Method> find(String name) {
        String word = name.strip().toLowerCase(Locale.ROOT);
        return ALL.stream().filter(method -> method.name().equals(word)).findFirst();
    }

    /** Returns the names of all methods. */
    public static List<String> names() {
        return ALL.stream().map(Method::name).toList();
    }
}
