import java.nio.file.Path
import org.gramian.Trainer
import org.gramian.model.Classifier
import org.gramian.model.ImageResult

/** Trains on a folder with one sub-folder per class, then predicts images: `java -jar target/textures.jar FOLDER RUN IMAGE...` */
fun main(arguments: Array<String>) {
    val (folder, run) = arguments.map(Path::of)
    val images = arguments.drop(2).map(Path::of)

    val report = Trainer.on(folder).seed(7).train(run)
    println("test accuracy %.2f".format(report.accuracy()))

    Classifier.load(report.model()).use { classifier ->
        for ((image, result) in images.zip(classifier.predict(images))) {
            val answer = when (result) {
                is ImageResult.Computed -> result.prediction().orElseThrow().best().run { "${name()} %.3f".format(probability()) }
                is ImageResult.Failed -> result.reason()
            }
            println("$image $answer")
        }
    }
}
