# Builds three images: `docker build --target api|worker|console .`
# Node runs the TypeScript sources directly, so each image contains the workspace and the dependencies of its program.

# Base images, replaceable where no registry is reachable: Debian 12, the same with Node and npm.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS base
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 TURBO_TELEMETRY_DISABLED=1
WORKDIR /app
# A new volume mounted here takes over the owner of this folder.
RUN install -d -o node -g node -m 0700 /var/lib/muster/artifacts

# The pnpm that `npm start` uses, pinned with checksums in bin/toolchain.
FROM base AS workspace
COPY bin/toolchain /opt/toolchain
RUN npm ci --prefix /opt/toolchain --ignore-scripts --no-audit --no-fund \
  && install -m 0755 /opt/toolchain/node_modules/@pnpm/exe.*/pnpm /usr/local/bin/pnpm \
  && rm -rf /opt/toolchain
# Fetch from the lockfile alone, so that changed sources reuse this layer.
COPY pnpm-lock.yaml pnpm-workspace.yaml ./
COPY patches patches
RUN pnpm fetch
COPY . .

FROM workspace AS api-files
RUN pnpm install --offline --frozen-lockfile --prod --no-optional --filter '@muster/api...' --filter '@muster/standalone...'

FROM workspace AS worker-files
RUN pnpm install --offline --frozen-lockfile --prod --filter '@muster/worker...'

FROM workspace AS console-build
RUN NODE_ENV=development pnpm install --offline --frozen-lockfile --filter muster --filter '@muster/console...' \
  && node_modules/.bin/turbo run build --filter=@muster/console

FROM workspace AS console-files
RUN pnpm install --offline --frozen-lockfile --prod --no-optional --filter '@muster/standalone...'

FROM ${DEBIAN_IMAGE} AS ansible
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv && rm -rf /var/lib/apt/lists/*
COPY playbooks/requirements.txt /tmp/requirements.txt
RUN python3 -m venv /opt/ansible \
  && /opt/ansible/bin/pip install --no-cache-dir --require-hashes --prefer-binary -r /tmp/requirements.txt

FROM base AS api
COPY --from=api-files /app /app
USER node
EXPOSE 4000
CMD ["node", "apps/api/src/main.ts"]

FROM base AS worker
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3 openssh-client git bubblewrap \
  && rm -rf /var/lib/apt/lists/*
COPY --from=ansible /opt/ansible /opt/ansible
COPY --from=worker-files /app /app
ENV ANSIBLE_PLAYBOOK=/opt/ansible/bin/ansible-playbook
USER node
EXPOSE 4001
CMD ["node", "apps/worker/src/main.ts"]

FROM base AS console
COPY --from=console-files /app /app
COPY --from=console-build /app/apps/console/.next/standalone /app/apps/console/.next/standalone
USER node
EXPOSE 3000
CMD ["node", "apps/standalone/src/serve-console.ts"]
