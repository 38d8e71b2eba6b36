# Lathe with all it needs to build for every target: docker build -t lathe . && docker run -v "$PWD:/models" lathe build deploy.yml
FROM debian:12
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git make python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/lathe
COPY . .
RUN make setup
ENV PATH="/opt/lathe/.venv/bin:$PATH"
WORKDIR /models
ENTRYPOINT ["lathe"]
