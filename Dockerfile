# Serves a model over HTTP, from the distribution, which has its own Java runtime and libtorch:
#
#   scripts/build-distribution
#   docker build -t gramian .
#   docker run --rm -p 8080:8080 -e GRAMIAN_TOKEN=secret -v "$PWD/runs/demo/auto:/model:ro" gramian
#
# A released gramian-VERSION-linux-*.tar.gz in the folder target does instead of the first command. The mounted folder is that of a
# run: model.safetensors, and gallery.safetensors for similar images. Replacing the model there swaps it without downtime. Other
# commands: docker run --rm gramian COMMAND, as in docker run --rm gramian methods.

FROM debian:trixie-slim@sha256:3a39a0592364683e6bab97937b72cad5a8fa6dcbbee90edb3bb48c7f8e94f258 AS unpack
COPY target/gramian-*-linux-*.tar.gz /tmp/
RUN mkdir /opt/gramian \
    && tar -xzf /tmp/gramian-*-linux-"$(uname -m)".tar.gz -C /opt/gramian --strip-components=1 --no-same-owner \
    && rm -r /opt/gramian/docs

FROM debian:trixie-slim@sha256:3a39a0592364683e6bab97937b72cad5a8fa6dcbbee90edb3bb48c7f8e94f258
RUN useradd --system --create-home --home-dir /home/gramian gramian \
    && mkdir -p /model /var/cache/gramian \
    && chown gramian /var/cache/gramian \
    && ln -s /opt/gramian/bin/gramian /usr/local/bin/gramian
COPY --from=unpack /opt/gramian /opt/gramian
# Without a UTF-8 locale, Java loses every letter of a file name that is not ASCII.
ENV GRAMIAN_CACHE=/var/cache/gramian LC_ALL=C.UTF-8
USER gramian
# Unpacks libtorch into the image and checks that it computes right: no start has to do it, and the container may be read-only.
RUN gramian doctor --device cpu
VOLUME /model
EXPOSE 8080
# By bash, because the image has no curl.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /health HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && grep -q '\"ok\"' <&3"]
ENTRYPOINT ["gramian"]
CMD ["serve", "/model", "--host", "0.0.0.0", "--port", "8080"]
