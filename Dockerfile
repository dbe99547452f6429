# syntax=docker/dockerfile:1

# Renovate updates the digests of the images.

# The build runs once, on the builder's platform. Its output runs on any platform.
FROM --platform=$BUILDPLATFORM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY build.ts tsconfig.json ./
COPY src ./src
COPY commands ./commands
COPY tools ./tools
RUN npm run build

# The final image has no build tools.
FROM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS production
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force

FROM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
ENV NODE_ENV=production DATA_DIR=/data HTTP_PORT=8080 HTTP_HOST=0.0.0.0
WORKDIR /app
COPY --from=production /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json ./
COPY assets ./assets
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
# Checks liveness, not readiness: an outage of Discord or of the explorer must not restart the container.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HTTP_PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without npm in between, so that the bot itself gets the signals.
CMD ["node", "dist/src/main.js"]
