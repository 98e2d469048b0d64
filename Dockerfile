# One file, three images: `docker build --target api|worker|console .`
# Node runs the TypeScript sources directly, so an image is the workspace with the dependencies that its program needs.

FROM node:24.21.0-bookworm-slim AS base
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 TURBO_TELEMETRY_DISABLED=1
WORKDIR /app
# A volume that is mounted here belongs to whom the folder belongs to.
RUN install -d -o node -g node -m 0700 /var/lib/muster/artifacts

# pnpm as `npm start` has it: from npm, pinned and checksummed by bin/toolchain.
FROM base AS workspace
COPY bin/toolchain /opt/toolchain
RUN npm ci --prefix /opt/toolchain --ignore-scripts --no-audit --no-fund \
  && install -m 0755 /opt/toolchain/node_modules/@pnpm/exe.*/pnpm /usr/local/bin/pnpm \
  && rm -rf /opt/toolchain
# The store is filled from the lockfile alone: a change of sources does not fetch anything again.
COPY pnpm-lock.yaml pnpm-workspace.yaml ./
COPY patches patches
RUN pnpm fetch
COPY . .

FROM workspace AS api-files
RUN pnpm install --offline --frozen-lockfile --prod --filter '@muster/api...'

FROM workspace AS worker-files
RUN pnpm install --offline --frozen-lockfile --prod --filter '@muster/worker...'

FROM workspace AS console-build
RUN NODE_ENV=development pnpm install --offline --frozen-lockfile --filter muster --filter '@muster/console...' \
  && node_modules/.bin/turbo run build --filter=@muster/console

FROM workspace AS console-files
RUN pnpm install --offline --frozen-lockfile --prod --no-optional --filter '@muster/standalone...'

FROM debian:bookworm-slim AS ansible
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
RUN apt-get update && apt-get install -y --no-install-recommends python3 openssh-client bubblewrap && rm -rf /var/lib/apt/lists/*
COPY --from=ansible /opt/ansible /opt/ansible
COPY --from=worker-files /app /app
ENV ANSIBLE_PLAYBOOK=/opt/ansible/bin/ansible-playbook ANSIBLE_PLAYBOOK_REPO_PATH=/app/playbooks
USER node
EXPOSE 4001
CMD ["node", "apps/worker/src/main.ts"]

FROM base AS console
COPY --from=console-files /app /app
COPY --from=console-build /app/apps/console/.next/standalone /app/apps/console/.next/standalone
USER node
EXPOSE 3000
CMD ["node", "apps/standalone/src/front.ts"]
