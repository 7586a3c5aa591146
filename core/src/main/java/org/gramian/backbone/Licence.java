package org.gramian.backbone;

/** The terms under which publishers of weights give them away. */
public enum Licence {
    TORCHVISION("BSD-3-Clause"),
    /** Of the authors of VGG, also as Keras converted them. */
    VGG_AUTHORS("CC BY 4.0"),
    TORCHVISION_OR_VGG(TORCHVISION.terms + "; the authors' licence: " + VGG_AUTHORS.terms),
    BVLC("unrestricted use"),
    DEEPSCALE("BSD-2-Clause"),
    GOOGLE("Apache-2.0");

    private static final String ON_IMAGENET = "; trained on ImageNet, whose own terms (research only) may apply";

    private final String terms;

    Licence(String terms) {
        this.terms = terms;
    }

    /** The publisher's terms, and that the images they were trained on have their own. */
    public String text() {
        return terms + ON_IMAGENET;
    }
}
