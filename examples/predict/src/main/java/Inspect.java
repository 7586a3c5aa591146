//DEPS org.gramian:gramian-predict:0.1.0-SNAPSHOT
//JAVA 25+
//JAVA_OPTIONS --enable-native-access=ALL-UNNAMED

import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import org.gramian.anomaly.Detector;
import org.gramian.anomaly.Inspection;
import org.gramian.model.UnreadableImageException;

/**
 * Inspects the images of a camera's folder: those that lie there, then each new one, until it is interrupted. The camera should write
 * under another name and rename, so that no image is read half written.
 */
void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[1]);
    try (Detector detector = Detector.load(Path.of(arguments[0]));
            WatchService watch = folder.getFileSystem().newWatchService()) {
        folder.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
        IO.println("image,anomalous,p_value,x,y,width,height");
        try (Stream<Path> present = Files.list(folder)) {
            present.filter(Files::isRegularFile).sorted().forEach(file -> inspect(detector, file));
        }
        while (true) {
            WatchKey key = watch.take();
            for (WatchEvent<?> event : key.pollEvents()) {
                if (event.context() instanceof Path name) { // none after an overflow
                    inspect(detector, folder.resolve(name));
                }
            }
            key.reset();
        }
    }
}

void inspect(Detector detector, Path file) {
    try {
        Inspection found = detector.inspect(file);
        String box = found.regions().stream()
                .findFirst()
                .map(region -> region.x() + "," + region.y() + "," + region.width() + "," + region.height())
                .orElse(",,,");
        IO.println("%s,%s,%.4f,%s".formatted(file.getFileName(), found.isAnomalous(), found.pValue(), box));
    } catch (UnreadableImageException problem) {
        System.err.println(problem.getMessage());
    }
}
