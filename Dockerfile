# One image for all of our processes; the command says which.

FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --include=dev --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build

# Neither what only builds and tests need, nor the embedded Postgres: the database is a container of its own.
FROM node:20-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM node:20-bookworm-slim
ENV NODE_ENV=production HOLDFAST_HOME=/var/lib/holdfast
WORKDIR /app
COPY package.json ./
COPY migrations migrations
COPY policies policies
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
# A volume that is mounted at one of these for the first time takes over its owner.
RUN install --directory --owner=node --group=node --mode=0700 \
  /var/lib/holdfast /var/lib/holdfast-audit /var/lib/desk-key /var/lib/desk-public
USER node
EXPOSE 8080 8090 8091 9464
CMD ["node", "--enable-source-maps", "dist/bin/api.js"]
