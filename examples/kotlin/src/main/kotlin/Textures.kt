import java.nio.file.Path
import org.gramian.Trainer
import org.gramian.model.Classifier

/** Trains on a folder with one sub-folder per class, then predicts images: `java -jar target/textures.jar FOLDER RUN IMAGE...` */
fun main(arguments: Array<String>) {
    val (folder, run) = arguments.map(Path::of)
    val images = arguments.drop(2).map(Path::of)

    val report = Trainer.on(folder).seed(7).train(run)
    println("test accuracy %.2f".format(report.accuracy()))

    Classifier.load(report.model()).use { classifier ->
        val predictions = classifier.predict(images)
        predictions.found().forEach { (image, found) -> println("$image ${found.className()} %.3f".format(found.probability())) }
        predictions.failed().forEach { (image, reason) -> println("$image $reason") }
    }
}
