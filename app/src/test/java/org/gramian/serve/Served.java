package org.gramian.serve;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import javax.imageio.ImageIO;
import org.gramian.cli.TinyModel;
import org.gramian.export.OpenModel;
import org.gramian.gallery.Gallery.GalleryBuilder;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.NearestImages;
import org.gramian.gallery.Gallery.Subset;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.resize.Thumbnail;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.serve.RequestBody.UploadedImage;
import org.gramian.serve.ServeOptions.Limits;
import org.gramian.tensor.Device;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server of a tiny model, and a client that asks it. */
record Served(Server server, HttpClient client) implements AutoCloseable {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    /** Of a model that is written into a folder first. */
    static Served start(Path folder, ServeOptions options) throws IOException {
        return start(load(TinyModel.write(folder.resolve("model.safetensors"), "center:32")), options);
    }

    static Served start(ServedModel model, ServeOptions options) throws IOException {
        LoadedModel.Source source = new LoadedModel.Source(List.of(), _ -> model);
        return new Served(Server.start(options, source, Server.Listener.NONE), HttpClient.newHttpClient());
    }

    /** A slot of a model that is never reloaded. */
    static ModelSlot slot(LoadedModel model) throws IOException {
        Meters meters = new Meters(new Admission(Limits.DEFAULT));
        return new ModelSlot(new LoadedModel.Source(List.of(), _ -> model), meters, _ -> {});
    }

    /** A model file in libtorch, with the gallery beside it. */
    static LoadedModel.Source source(Path file) {
        return LoadedModel.Source.of(
                file, OpenModel.Request.of(OpenModel.EngineChoice.LIBTORCH), OptionalDouble.empty());
    }

    static LoadedModel load(Path file) throws IOException {
        return LoadedModel.of(
                "tiny", OpenModel.of(ModelFile.read(file, Device.CPU)), Optional.empty(), OptionalDouble.empty());
    }

    /** A tiny model whose gallery has the images {@link #png} of the seeds 1 to 5. */
    static LoadedModel withGallery(Path folder) throws IOException {
        LoadedModel plain = load(TinyModel.write(folder.resolve("model.safetensors"), "center:32"));
        GalleryBuilder gallery =
                new GalleryBuilder(TinyModel.CLASSES, plain.header().descriptorSize(), "0".repeat(64));
        Classifier classifier = plain.classifier();
        for (int i = 1; i <= 5; i++) {
            Image image = ((ReadResult.Readable) classifier.read(ImageSource.of("png", png(i)))).image();
            float[][] descriptors = classifier
                    .compute(List.of(classifier.render(image)), Set.of(Engine.Rows.DESCRIPTORS))
                    .getFirst()
                    .of(Engine.Rows.DESCRIPTORS);
            gallery.add(new Item("paper/" + i + ".png", 0, Subset.TRAINING), Thumbnail.of(image), descriptors);
        }
        return LoadedModel.of(
                "tiny", plain.opened(), Optional.of(NearestImages.of(gallery.build())), OptionalDouble.empty());
    }

    /** The same model with something around its engine. */
    static LoadedModel computedBy(LoadedModel model, UnaryOperator<Engine> around) {
        OpenModel inside = model.opened();
        Engine engine = around.apply(inside.classifier().engine());
        Classifier classifier = Classifier.of(engine, inside.card(), inside::close);
        return new LoadedModel(
                model.name(),
                new OpenModel(inside.header(), classifier, inside.engineName(), inside.gradients()),
                classifier,
                model.nearest(),
                model.recent());
    }

    /** Waits until a condition holds. */
    static void await(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.call()) {
            if (end - System.nanoTime() < 0) {
                throw new AssertionError("the condition did not hold within 20 s");
            }
            Thread.sleep(10);
        }
    }

    HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(to(path));
    }

    HttpResponse<String> post(String path, String type, byte[] body) throws IOException, InterruptedException {
        return send(to(path).header("Content-Type", type).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    static JsonNode json(HttpResponse<String> response) {
        return MAPPER.readTree(response.body());
    }

    /** An image that its seed alone decides, as a PNG. */
    static byte[] png(long seed) {
        return image(seed, 48, 40);
    }

    static byte[] image(long seed, int width, int height) {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        SplittableRandom random = new SplittableRandom(seed);
        double across = random.nextDouble(0.05, 0.9);
        double down = random.nextDouble(0.05, 0.9);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                int gray = (int) (128 + 100 * Math.sin(across * x + down * y));
                image.setRGB(x, y, gray << 16 | (255 - gray) << 8 | (x + y) % 256);
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            ImageIO.write(image, "png", out);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return out.toByteArray();
    }

    /** A form with a part for each file. */
    static byte[] form(String boundary, UploadedImage... files) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (UploadedImage file : files) {
            body.writeBytes(("--" + boundary + "\r\nContent-Disposition: form-data; name=\"image\"; filename=\""
                            + file.name() + "\"\r\nContent-Type: image/png\r\n\r\n")
                    .getBytes(StandardCharsets.UTF_8));
            body.writeBytes(file.content());
            body.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
        }
        body.writeBytes(("--" + boundary + "--\r\n").getBytes(StandardCharsets.UTF_8));
        return body.toByteArray();
    }

    @Override
    public void close() {
        server.close();
        client.shutdownNow();
    }
}
