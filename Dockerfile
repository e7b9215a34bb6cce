# syntax=docker/dockerfile:1.7
# An image of an application: docker build --build-arg APP=examples/quickstart -t my-agents .
# It runs without a shell, without root, and with a read-only file system; see docs/deployment.md.

ARG NODE_MAJOR=22

# Builds and packs Runyard. `npm ci` would refuse the lock file, which names the platforms of its author alone.
FROM node:${NODE_MAJOR}-bookworm-slim AS package
WORKDIR /source
COPY . .
RUN --mount=type=cache,target=/root/.npm npm install --no-save --ignore-scripts --no-audit --no-fund
RUN npm run build && npm pack --workspace packages/runyard --pack-destination /tmp \
  && mv /tmp/runyard-*.tgz /tmp/runyard.tgz

# Installs the application with what it needs at run time, and nothing else.
FROM node:${NODE_MAJOR}-bookworm-slim AS application
ARG APP=examples/quickstart
WORKDIR /app
COPY ${APP}/ ./
COPY --from=package /tmp/runyard.tgz /tmp/runyard.tgz
RUN --mount=type=cache,target=/root/.npm \
  npm install --omit=dev --ignore-scripts --no-audit --no-fund --save-exact /tmp/runyard.tgz ioredis@6.0.0 \
  && rm -f package-lock.json
COPY deploy/docker/healthcheck.mjs ./
# Compiled code in the image makes each start quicker. A process that loads the application writes it at its end.
RUN node node_modules/runyard/bin/runyard.mjs openapi > /dev/null
RUN mkdir /data

FROM gcr.io/distroless/nodejs${NODE_MAJOR}-debian12:nonroot
WORKDIR /app
# The code belongs to root: the service cannot change it. Only /data belongs to the service, for SQLite.
COPY --from=application /app /app
COPY --from=application --chown=65532:65532 /data /data
ENV NODE_ENV=production \
  RUNYARD_HOST=0.0.0.0 \
  RUNYARD_PORT=7777 \
  RUNYARD_PROBE_PORT=7778 \
  RUNYARD_DATA_DIR=/data \
  RUNYARD_LOG_FORMAT=json \
  RUNYARD_DRAIN_MS=5000
EXPOSE 7777 7778
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/nodejs/bin/node", "/app/healthcheck.mjs"]
ENTRYPOINT ["/nodejs/bin/node", "/app/node_modules/runyard/bin/runyard.mjs"]
CMD ["start"]
