# The production image: one role per container, `docker run … payment-ledger http | projections | …`.
# `docker-compose.yml` runs the roles with their stores.
# The digest changes together with the tag.
FROM node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe

ENV NODE_ENV=production HOST=0.0.0.0 ADMIN_PORT=9464 DATA_DIR=/data
WORKDIR /app

# Without the optional packages, which contain PostgreSQL for `ledger serve`: here DATABASE_URL names a server.
COPY package.json package-lock.json .npmrc ./
COPY packages packages
RUN npm ci --omit=dev --omit=optional && npm cache clean --force

COPY . .

# This account can write to /data only: keys for a start while PostgreSQL is away, and of `ledger projections` the last
# checkpoint that it signed.
RUN install -d -o node -g node /data

# What Node compiles of each role (src/ledger.js), which takes half of the CPU time of a start. It is made by the account
# that reads it, whose number is part of the folder's name; without its variables a role ends with 78 once it is loaded.
# Then it belongs to root, so that nobody can change it while the program runs.
RUN install -d -o node -g node node_modules/.cache/compiled \
  && for role in http projections reactors; do \
    setpriv --reuid=node --regid=node --clear-groups node src/ledger.js $role 2>/dev/null || [ $? -eq 78 ] || exit 1; \
  done \
  && chown -R root:root node_modules/.cache && chmod -R a+rX node_modules/.cache
USER node
EXPOSE 5173

# Whether the process runs, whatever its role. /readyz also says whether it can do its work; during an outage of a store,
# restarting it would not help.
HEALTHCHECK --interval=10s --timeout=5s --retries=3 --start-period=20s \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:' + process.env.ADMIN_PORT + '/livez').then((it) => process.exit(it.ok ? 0 : 1), () => process.exit(1))"]

ENTRYPOINT ["node", "src/ledger.js"]
CMD ["http"]
