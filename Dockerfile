# The production image: one role per container, `docker run … payment-ledger http | projections | …`.
# `docker-compose.yml` runs the roles with their stores.
FROM node:24.21.0-trixie-slim

ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app

# Without the optional packages, which contain PostgreSQL for `ledger serve`: here DATABASE_URL names a server.
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --omit=dev --omit=optional && npm cache clean --force

COPY . .

# This account cannot write to /app, and does not need to.
USER node
EXPOSE 5173
ENTRYPOINT ["node", "src/main.ts"]
CMD ["http"]
