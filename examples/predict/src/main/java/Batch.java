//DEPS org.gramian:gramian-predict:0.1.0-SNAPSHOT
//JAVA 25+
//JAVA_OPTIONS --enable-native-access=ALL-UNNAMED

import java.util.concurrent.Semaphore;
import org.gramian.model.Classifier;
import org.gramian.model.UnreadableImageException;

/** Writes the classes of all images in a folder as CSV: one virtual thread per image, a few images in memory at once. */
void main(String[] arguments) throws Exception {
    Semaphore decoding = new Semaphore(2 * Runtime.getRuntime().availableProcessors());
    try (Classifier classifier = Classifier.load(Path.of(arguments[0]));
            ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
            Stream<Path> files = Files.walk(Path.of(arguments[1]))) {
        List<Future<String>> lines = files.filter(Files::isRegularFile)
                .sorted()
                .map(file -> threads.submit(() -> line(classifier, file, decoding)))
                .toList();
        IO.println("image,class,probability");
        for (Future<String> line : lines) {
            IO.println(line.get());
        }
    }
}

String line(Classifier classifier, Path file, Semaphore decoding) throws InterruptedException {
    decoding.acquire();
    try {
        var prediction = classifier.predict(file);
        return "%s,%s,%.4f".formatted(file, prediction.className(), prediction.probability());
    } catch (UnreadableImageException problem) {
        return file + ",,";
    } finally {
        decoding.release();
    }
}
