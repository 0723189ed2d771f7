# PassNet on the CPU: its programs with PyTorch's library, without PyTorch in Python. scripts/image builds it: docs/images.md.
ARG BASE=debian:bookworm-slim
FROM ${BASE} AS packages
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip
COPY dist/passnet-*.whl /tmp/dist/
# Programs need no Python, so the packages of version 3.11 serve any base.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ARG TORCH_WHEELS=torch==2.11.0
RUN options='--target /opt/passnet --no-deps --no-compile --no-cache-dir --python-version 3.11 --only-binary=:all:' && \
    pip install $options /tmp/dist/*.whl && \
    pip install $options --index-url "$TORCH_INDEX" $TORCH_WHEELS && \
    cd /opt/passnet && mkdir lib && mv torch/lib/libtorch_cpu.so torch/lib/libc10.so torch/lib/libgomp* lib/ && \
    rm -r torch torchgen functorch passnet/_C.* bin && mkdir torch && mv lib torch/lib && \
    if [ -e nvidia ]; then find nvidia -type f ! -name 'libcudart.so*' ! -name 'libcupti.so*' -delete; fi

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends g++ && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* && \
    useradd --create-home passnet && ln -s /opt/passnet/passnet/bin/passnet /usr/local/bin/passnet
COPY --from=packages /opt/passnet /opt/passnet
USER passnet
WORKDIR /home/passnet
# A server at port 8765 must answer; without one the program must start.
HEALTHCHECK --interval=30s --timeout=10s CMD ["bash", "-c", \
    "if exec 3<>/dev/tcp/127.0.0.1/8765; then printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3; grep -q '\"ok\":true' <&3; else passnet --version; fi"]
ENTRYPOINT ["passnet"]
CMD ["--help"]
