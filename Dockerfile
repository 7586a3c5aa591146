# Serves a model over HTTP:
#
#   docker build -t gramian .
#   docker run --rm -p 8080:8080 -e GRAMIAN_TOKEN=secret -v "$PWD/runs/demo/second-order:/model:ro" gramian
#
# The mounted folder is that of a run: model.safetensors, and gallery.safetensors for nearest pictures. Replacing the model
# there swaps it without downtime. Other commands: docker run --rm gramian COMMAND, as in docker run --rm gramian methods.

FROM maven:3.9-eclipse-temurin-25 AS build
WORKDIR /source
COPY gramian pom.xml ./
COPY .mvn .mvn
COPY scripts scripts
COPY core core
COPY benchmarks benchmarks
COPY app app
COPY spark/pom.xml spark/pom.xml
# The launcher builds on its first start.
RUN ./gramian --version

FROM eclipse-temurin:25-jre
RUN useradd --system --create-home --home-dir /home/gramian gramian \
    && mkdir -p /model /var/cache/gramian \
    && chown gramian /var/cache/gramian
COPY --from=build /source/app/target/gramian/*.jar /opt/gramian/
# Without a UTF-8 locale, Java loses every letter of a file name that is not ASCII.
ENV GRAMIAN_CACHE=/var/cache/gramian GRAMIAN_COMMAND=gramian LC_ALL=C.UTF-8
USER gramian
# Unpacks libtorch into the image and checks that it computes right: no start has to do it, and the container may be read-only.
RUN java --enable-native-access=ALL-UNNAMED -cp "/opt/gramian/*" org.gramian.cli.Main doctor --device cpu
VOLUME /model
EXPOSE 8080
# By bash, for the image need not have curl.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && grep -q '\"ok\"' <&3"]
ENTRYPOINT ["java", "--enable-native-access=ALL-UNNAMED", "-cp", "/opt/gramian/*", "org.gramian.cli.Main"]
CMD ["serve", "/model", "--host", "0.0.0.0", "--port", "8080"]
