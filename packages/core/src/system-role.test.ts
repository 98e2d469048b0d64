import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Files whose statements use the system role, which bypasses row-level security, by the reason why one tenant does not suffice. */
const FILES: Record<string, string[]> = {
  'the tenant is not known yet': [
    'packages/core/src/agents/find-agents.ts',
    'packages/core/src/agents/register-agent.ts',
    'packages/core/src/run-queue/claim-next-job-run.ts',
    'packages/core/src/run-queue/queue-order.ts',
    'packages/core/src/alerts/claim-alert-delivery.ts',
    'packages/core/src/audit-sinks/claim-audit-sink.ts',
    'apps/api/src/http/downloads/artifact.ts',
  ],
  'one statement stores heartbeats of all tenants': [
    'packages/core/src/heartbeats/accept-heartbeats.ts',
    'packages/core/src/heartbeats/record-heartbeat-findings.ts',
    'packages/core/src/heartbeats/record-ingest-liveness.ts',
    'packages/core/src/agents/settings.ts',
    'apps/api/src/http/agents/evaluate-heartbeat.ts',
    'apps/api/src/http/agents/endpoint.ts',
    'apps/api/src/live-heartbeats.ts',
  ],
  'a reconciler or retention over all tenants': [
    'packages/core/src/access/tenants/purge-deleted-tenants.ts',
    'packages/core/src/access/sign-in/prune-sessions.ts',
    'packages/core/src/agents/reconcile-agent-states.ts',
    'packages/core/src/alerts/plan-alert-deliveries.ts',
    'packages/core/src/alerts/prune-alerts.ts',
    'packages/core/src/audit-sinks/check-audit-sinks.ts',
    'packages/core/src/audit/prune-audit-entries.ts',
    'packages/core/src/audit/record-attempt.ts',
    'packages/core/src/audit/seal-audit-entries.ts',
    'packages/core/src/credentials/reencrypt-credentials.ts',
    'packages/core/src/discoveries/fail-stalled-work.ts',
    'packages/core/src/heartbeats/roll-up-heartbeat-history.ts',
    'packages/core/src/idempotency/prune-idempotency-keys.ts',
    'packages/core/src/rotations/reassign-credential-rotations.ts',
    'packages/core/src/run-queue/node-locks.ts',
    'packages/core/src/runs/lifecycle/end-lost-job-runs.ts',
    'packages/core/src/runs/results/apply-retention.ts',
    'packages/core/src/templates/update-built-in-templates.ts',
  ],
  'objects of the installation: tenants, users, sessions, workers, encryption keys': [
    'packages/core/src/access/appoint-installation-admin.ts',
    'packages/core/src/access/dismiss-installation-admin.ts',
    'packages/core/src/access/members/accept-invitation.ts',
    'packages/core/src/access/members/create-service-account.ts',
    'packages/core/src/access/members/remove-member.ts',
    'packages/core/src/access/members/reset-sign-in.ts',
    'packages/core/src/access/members/suspend-member.ts',
    'packages/core/src/access/sign-in/provision-user.ts',
    'packages/core/src/access/sign-in/reset-password.ts',
    'packages/core/src/access/tenants/create-tenant.ts',
    'packages/core/src/access/tenants/delete-tenant.ts',
    'packages/core/src/access/tenants/resume-tenant.ts',
    'packages/core/src/access/tenants/suspend-tenant.ts',
    'packages/core/src/access/tenants/switch-tenant.ts',
    'packages/core/src/access/tenants/update-tenant.ts',
    'packages/core/src/credentials/credential-key.ts',
    'packages/core/src/credentials/rotate-credential-key.ts',
    'packages/core/src/system/run-system-checks.ts',
    'packages/core/src/workers/drain-worker.ts',
    'packages/core/src/workers/end-worker.ts',
    'packages/core/src/workers/record-worker-liveness.ts',
    'packages/core/src/workers/register-worker.ts',
    'packages/core/src/workers/undrain-worker.ts',
    'apps/api/src/appoint.ts',
    'apps/api/src/first-start.ts',
    'apps/api/src/graphql/access/identities.ts',
    'apps/api/src/graphql/access/types.ts',
    'apps/api/src/graphql/access/queries.ts',
    'apps/api/src/graphql/access/tenant-counts.ts',
    'apps/api/src/graphql/audit/queries.ts',
    'apps/api/src/http/audit-export.ts',
    'apps/api/src/main.ts',
    'apps/api/src/reset-owner.ts',
    'apps/api/src/sign-in/auth.ts',
    'apps/api/src/sign-in/device-sign-in.ts',
    'apps/api/src/sign-in/passkeys.ts',
    'apps/api/src/sign-in/request-ctx.ts',
    'apps/api/src/register-lab.ts',
    'apps/api/src/sign-in/sessions.ts',
  ],
  'metrics and health of the process; the queue': [
    'apps/api/src/api.ts',
    'apps/api/src/doctor.ts',
    'apps/api/src/http/router.ts',
    'apps/api/src/system-checks.ts',
    'apps/worker/src/handlers/job-run.ts',
  ],
}

const CORE = /\bSystemCtx\b|\bsystemDb\b|Pick<Runtime\b/
const APPS = /\bruntime\.db\b|\bsystemCtx\(|\bsystemDb\b|\{[^}]*\bdb\b[^}]*\}: Runtime\b/
/** Code that only passes the context on, or opens it. */
const OTHER = /\.test\.ts$|\/testing\/|\/reconcilers\/|packages\/core\/src\/(kernel\/|registry\.ts)/

test('only the listed files use the system role', () => {
  const uses = (folder: string, pattern: RegExp) =>
    fs
      .globSync('**/*.ts', { cwd: path.join(root, folder) })
      .map((file) => `${folder}/${file}`)
      .filter((file) => !OTHER.test(file) && pattern.test(fs.readFileSync(path.join(root, file), 'utf8')))
  const found = [
    ...uses('packages/core/src', CORE),
    ...uses('apps/api/src', APPS),
    // Handlers and reconcilers pass their context to verbs of core, so only statements of their own count.
    ...uses('apps/worker/src', /\bruntime\.db\.|\bsystemDb\b/),
  ]
  expect(found.sort()).toEqual(Object.values(FILES).flat().sort())
})
