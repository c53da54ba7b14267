# The production image: one role per container, `docker run … payment-ledger http | projections | …`.
# `docker-compose.yml` shows the roles beside their stores.
FROM node:24.21.0-trixie-slim

ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app

# Without the optional packages, which hold PostgreSQL's programs for `ledger serve`: here DATABASE_URL names a server.
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --omit=dev --omit=optional && npm cache clean --force

COPY . .

# Nothing in /app is writable for this account, and nothing needs to be.
USER node
EXPOSE 5173
ENTRYPOINT ["node", "src/main.ts"]
CMD ["http"]
