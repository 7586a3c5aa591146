package org.gramian.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import org.gramian.anomaly.AnomalyMap;
import org.gramian.anomaly.Inspection;
import org.gramian.explain.HeatImage;
import org.gramian.image.Image;

/** An image with its anomaly map and a box around each region. */
public final class AnomalyOverlay {
    private AnomalyOverlay() {}

    /**
     * Draws the map, transparent: nothing at half of the threshold, a third of the full opacity at the threshold, all of it at twice
     * the threshold.
     */
    public static BufferedImage heat(AnomalyMap map, double threshold) {
        float[] strengths = new float[map.values().length];
        for (int i = 0; i < strengths.length; i++) {
            strengths[i] = (float) Math.clamp((map.values()[i] / threshold - 0.5) / 1.5, 0.0, 1.0);
        }
        return HeatImage.overlay(map.columns(), map.rows(), strengths);
    }

    /** Draws the map over the image, with the regions. */
    public static BufferedImage draw(Image image, Inspection found, double threshold) {
        BufferedImage drawn = image.toBufferedImage();
        Graphics2D graphics = drawn.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
        BufferedImage heat = heat(found.map(), threshold);
        graphics.drawImage(heat, 0, 0, drawn.getWidth(), drawn.getHeight(), null);
        float stroke = Math.max(1, Math.min(drawn.getWidth(), drawn.getHeight()) / 150f);
        for (AnomalyMap.Region region : found.regions()) {
            box(graphics, region, 2 * stroke, Color.BLACK);
            box(graphics, region, stroke, Color.WHITE);
        }
        graphics.dispose();
        return drawn;
    }

    private static void box(Graphics2D graphics, AnomalyMap.Region region, float stroke, Color colour) {
        graphics.setColor(colour);
        graphics.setStroke(new BasicStroke(stroke));
        graphics.drawRect(region.x(), region.y(), Math.max(1, region.width() - 1), Math.max(1, region.height() - 1));
    }
}
