package org.gramian.spring;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Optional;
import org.gramian.model.UnreadableImageException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Answers {@code POST /predict} and {@code POST /inspect} of an image; JSON of {@code
 * Prediction.asMap} and {@code Inspection.asMap}. */
@RestController
@RequestMapping(
        path = "${gramian.web.path:}",
        consumes = {"image/*", MediaType.APPLICATION_OCTET_STREAM_VALUE},
        produces = MediaType.APPLICATION_JSON_VALUE)
final class GramianController {
    private final GramianTemplate template;
    private final GramianProperties properties;

    GramianController(GramianTemplate template, GramianProperties properties) {
        this.template = template;
        this.properties = properties;
    }

    /** Thrown for a body that is too large. */
    static final class TooLargeException extends IOException {
        private static final long serialVersionUID = 1L;

        TooLargeException(long limit) {
            super("expected an image of at most " + limit + " bytes, found a larger one");
        }
    }

    @PostMapping("/predict")
    Map<String, Object> predict(InputStream body, @RequestParam Optional<Integer> top) throws IOException {
        return template.predict(read(body)).asMap(top.orElse(properties.top()));
    }

    @PostMapping("/inspect")
    Map<String, Object> inspect(InputStream body) throws IOException {
        return template.inspect(read(body)).asMap();
    }

    private byte[] read(InputStream body) throws IOException {
        long limit = properties.web().maxSize().toBytes();
        byte[] content = body.readNBytes(Math.toIntExact(limit + 1));
        if (content.length > limit) {
            throw new TooLargeException(limit);
        }
        return content;
    }

    @ExceptionHandler
    ProblemDetail tooLarge(TooLargeException problem) {
        return problem(HttpStatus.CONTENT_TOO_LARGE, problem);
    }

    @ExceptionHandler
    ProblemDetail unreadable(UnreadableImageException problem) {
        return problem(HttpStatus.UNPROCESSABLE_CONTENT, problem);
    }

    /** A wrong {@code top}, or an image too thin for the crops. */
    @ExceptionHandler
    ProblemDetail invalid(IllegalArgumentException problem) {
        return problem(HttpStatus.BAD_REQUEST, problem);
    }

    /** No classifier, or no detector. */
    @ExceptionHandler
    ProblemDetail missing(GramianTemplate.MissingModelException problem) {
        return problem(HttpStatus.NOT_FOUND, problem);
    }

    private static ProblemDetail problem(HttpStatus status, Exception problem) {
        return ProblemDetail.forStatusAndDetail(status, String.valueOf(problem.getMessage()));
    }
}
