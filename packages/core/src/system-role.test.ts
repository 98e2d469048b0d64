import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/**
 * Files whose statements use the system role, which bypasses row-level security, by the reason why one tenant does not suffice, with
 * the number of their statements. For a new statement, check that it may cross tenants, then correct the number.
 */
const FILES: Record<string, Record<string, number>> = {
  'the tenant is not known yet': {
    'packages/core/src/agents/find-agents.ts': 1,
    'packages/core/src/agents/register-agent.ts': 10,
    'packages/core/src/run-queue/claim-next-job-run.ts': 0,
    'packages/core/src/run-queue/queue-order.ts': 3,
    'packages/core/src/slurm-power/find-power-client.ts': 1,
    'packages/core/src/triggers/find-trigger.ts': 1,
    'packages/core/src/triggers/receive-trigger.ts': 7,
    'packages/core/src/alerts/claim-alert-delivery.ts': 2,
    'packages/core/src/audit-sinks/claim-audit-sink.ts': 3,
    'packages/core/src/openchami/claim-openchami-target.ts': 2,
    'apps/api/src/http/boot/find-tenant.ts': 1,
    'apps/api/src/http/triggers.ts': 1,
    'apps/api/src/http/downloads/artifact.ts': 1,
    'apps/api/src/http/openchami/serve.ts': 1,
  },
  'one statement stores heartbeats of all tenants': {
    'packages/core/src/heartbeats/accept-heartbeats.ts': 0,
    'packages/core/src/heartbeats/record-heartbeat-findings.ts': 3,
    'packages/core/src/heartbeats/record-ingest-liveness.ts': 1,
    'packages/core/src/heartbeats/record-rejections.ts': 1,
    'packages/core/src/agents/settings.ts': 2,
    'apps/api/src/http/agents/evaluate-heartbeat.ts': 0,
    'apps/api/src/http/agents/rejection-recorder.ts': 0,
    'apps/api/src/http/agents/endpoint.ts': 0,
    'apps/api/src/live-heartbeats.ts': 4,
  },
  'a reconciler or retention over all tenants': {
    'packages/core/src/access/tenants/purge-deleted-tenants.ts': 9,
    'packages/core/src/access/sign-in/prune-sessions.ts': 1,
    'packages/core/src/agents/reconcile-agent-states.ts': 1,
    'packages/core/src/alerts/plan-alert-deliveries.ts': 10,
    'packages/core/src/alerts/prune-alerts.ts': 3,
    'packages/core/src/audit-sinks/check-audit-sinks.ts': 4,
    'packages/core/src/audit/prune-audit-entries.ts': 8,
    'packages/core/src/audit/record-attempt.ts': 4,
    'packages/core/src/audit/seal-audit-entries.ts': 6,
    'packages/core/src/boot-service/observe-boots.ts': 5,
    'packages/core/src/boot-service/prune-boot-records.ts': 2,
    'packages/core/src/boot-service/rules/accept-by-rules.ts': 1,
    'packages/core/src/clusters/check-slurm-clusters.ts': 7,
    'packages/core/src/clusters/fail-stalled-slurm-tests.ts': 1,
    'packages/core/src/clusters/lookups/fail-stalled-slurm-lookups.ts': 2,
    'packages/core/src/clusters/request-due-refreshes.ts': 1,
    'packages/core/src/credentials/reencrypt-credentials.ts': 4,
    'packages/core/src/discoveries/fail-stalled-work.ts': 2,
    'packages/core/src/heartbeats/roll-up-heartbeat-history.ts': 9,
    'packages/core/src/idempotency/prune-idempotency-keys.ts': 1,
    'packages/core/src/rotations/reassign-credential-rotations.ts': 1,
    'packages/core/src/run-queue/node-locks.ts': 7,
    'packages/core/src/runs/lifecycle/end-lost-job-runs.ts': 6,
    'packages/core/src/runs/results/apply-retention.ts': 9,
    'packages/core/src/runs/slurm/find-unfinished-slurm-runs.ts': 1,
    'packages/core/src/ledger/record-node-changes.ts': 4,
    'packages/core/src/ledger/sink/claim-ledger-sink.ts': 3,
    'packages/core/src/node-states/end-maintenance.ts': 3,
    'packages/core/src/power/schedule-power-work.ts': 4,
    'packages/core/src/schedules/check-schedules.ts': 3,
    'packages/core/src/schedules/fire-due-schedules.ts': 1,
    'packages/core/src/schedules/fire-schedule.ts': 3,
    'packages/core/src/schedules/prune-schedule-firings.ts': 1,
    'packages/core/src/triggers/prune-trigger-deliveries.ts': 1,
    'packages/core/src/slurm-actions/prune-slurm-actions.ts': 1,
    'packages/core/src/slurm-actions/reassign-slurm-actions.ts': 1,
    'packages/core/src/slurm-operations/reassign-slurm-operations.ts': 1,
    'packages/core/src/slurm-scaling/fail-stalled-readiness-checks.ts': 2,
    'packages/core/src/templates/update-built-in-templates.ts': 1,
  },
  'objects of the installation: tenants, users, sessions, workers, encryption keys': {
    'packages/core/src/access/appoint-installation-admin.ts': 3,
    'packages/core/src/access/dismiss-installation-admin.ts': 3,
    'packages/core/src/access/members/accept-invitation.ts': 6,
    'packages/core/src/access/members/create-service-account.ts': 2,
    'packages/core/src/access/members/remove-member.ts': 2,
    'packages/core/src/access/members/reset-sign-in.ts': 6,
    'packages/core/src/access/members/suspend-member.ts': 1,
    'packages/core/src/access/sign-in/change-email.ts': 7,
    'packages/core/src/access/sign-in/provision-user.ts': 12,
    'packages/core/src/access/sign-in/reset-password.ts': 8,
    'packages/core/src/access/tenants/create-tenant.ts': 4,
    'packages/core/src/access/tenants/delete-tenant.ts': 4,
    'packages/core/src/access/tenants/resume-tenant.ts': 2,
    'packages/core/src/access/tenants/suspend-tenant.ts': 2,
    'packages/core/src/access/tenants/switch-tenant.ts': 1,
    'packages/core/src/access/tenants/update-tenant.ts': 2,
    'packages/core/src/credentials/credential-key.ts': 4,
    'packages/core/src/credentials/rotate-credential-key.ts': 1,
    'packages/core/src/system/run-system-checks.ts': 0,
    'packages/core/src/workers/drain-worker.ts': 1,
    'packages/core/src/workers/end-worker.ts': 1,
    'packages/core/src/workers/record-worker-liveness.ts': 2,
    'packages/core/src/workers/register-worker.ts': 1,
    'packages/core/src/workers/undrain-worker.ts': 1,
    'apps/api/src/appoint.ts': 0,
    'apps/api/src/change-email.ts': 0,
    'apps/api/src/first-start.ts': 2,
    'apps/api/src/graphql/access/identities.ts': 0,
    'apps/api/src/graphql/access/types.ts': 4,
    'apps/api/src/graphql/access/queries.ts': 10,
    'apps/api/src/graphql/access/tenant-counts.ts': 1,
    'apps/api/src/graphql/audit/queries.ts': 3,
    'apps/api/src/http/audit-export.ts': 0,
    'apps/api/src/main.ts': 0,
    'apps/api/src/reset-owner.ts': 0,
    'apps/api/src/sign-in/device-sign-in.ts': 1,
    'apps/api/src/sign-in/email-changes.ts': 0,
    'apps/api/src/sign-in/external.ts': 0,
    'apps/api/src/sign-in/passwords.ts': 0,
    'apps/api/src/sign-in/passkeys.ts': 1,
    'apps/api/src/sign-in/request-ctx.ts': 0,
    'apps/api/src/register-lab-machines.ts': 1,
    'apps/api/src/register-lab.ts': 4,
    'apps/api/src/sign-in/sessions.ts': 0,
    'apps/api/src/sign-in/sign-in-changes.ts': 0,
  },
  'metrics and health of the process; the queue': {
    'apps/api/src/api.ts': 0,
    'apps/api/src/doctor.ts': 0,
    'apps/api/src/http/router.ts': 1,
    'apps/api/src/system-checks.ts': 0,
    'apps/worker/src/handlers/job-run.ts': 0,
  },
}

const CORE = /\bSystemCtx\b|\bsystemDb\b|Pick<Runtime\b/
const APPS = /\bruntime\.db\b|\bsystemCtx\(|\bsystemDb\b|\{[^}]*\bdb\b[^}]*\}: Runtime\b/
/** Code that only passes the context on, or opens it. */
const OTHER = /\.test\.ts$|\/testing\/|\/reconcilers\/|packages\/core\/src\/(kernel\/|registry\.ts)/

const STATEMENT = /\b(?:select(?:Distinct|DistinctOn)?|insert|update|delete|execute|findFirst|findMany)(?:<[^()]*>)?\(|\$count\(/g

test('only the listed files use the system role, in the listed number of statements', () => {
  const statements = (folder: string, pattern: RegExp) =>
    fs
      .globSync('**/*.ts', { cwd: path.join(root, folder) })
      .map((file) => `${folder}/${file}`)
      .filter((file) => !OTHER.test(file))
      .map((file) => ({ file, text: fs.readFileSync(path.join(root, file), 'utf8') }))
      .filter(({ text }) => pattern.test(text))
      .map(({ file, text }) => [file, text.match(STATEMENT)?.length ?? 0])
  const found = [
    ...statements('packages/core/src', CORE),
    ...statements('apps/api/src', APPS),
    // Handlers and reconcilers pass their context to verbs of core, so only statements of their own count.
    ...statements('apps/worker/src', /\bruntime\.db\.|\bsystemDb\b/),
  ]
  expect(Object.fromEntries(found)).toEqual(Object.assign({}, ...Object.values(FILES)))
})
