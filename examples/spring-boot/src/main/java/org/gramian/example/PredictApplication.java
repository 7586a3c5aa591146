package org.gramian.example;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.gramian.model.Classifier;
import org.gramian.model.Prediction.ClassProbability;
import org.gramian.model.UnreadableImageException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Answers {@code POST /predict} of an image with its most probable classes. */
@SpringBootApplication
public class PredictApplication {
    public static void main(String[] arguments) {
        SpringApplication.run(PredictApplication.class, arguments);
    }

    /** Loads the model once; a classifier is thread-safe. Spring closes it at the end. */
    @Bean
    Classifier classifier(@Value("${model}") Path model) throws IOException {
        return Classifier.load(model);
    }

    @RestController
    static class PredictController {
        private final Classifier classifier;

        PredictController(Classifier classifier) {
            this.classifier = classifier;
        }

        @PostMapping("/predict")
        List<ClassProbability> predict(@RequestBody byte[] image, @RequestParam(defaultValue = "3") int top)
                throws UnreadableImageException {
            return classifier.predict(image).top(top);
        }

        @ExceptionHandler
        ProblemDetail unreadable(UnreadableImageException problem) {
            return ProblemDetail.forStatusAndDetail(HttpStatus.UNPROCESSABLE_CONTENT, problem.getMessage());
        }
    }
}
