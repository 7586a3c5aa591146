package org.gramian.example;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Answers {@code POST /predict} and {@code POST /inspect} of an image; a {@code Classifier} and a {@code Detector} are beans. */
@SpringBootApplication
public class PredictApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(PredictApplication.class, arguments);
    }
}
