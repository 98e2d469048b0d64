import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { createSecretStore } from '@muster/core/credentials'
import { newId } from '@muster/core/db'
import {
  discoveryFixture,
  slurmJob,
  slurmJobRecord,
  slurmNode,
  slurmPartition,
  slurmReservation,
  type TenantFixture,
  zip,
} from '@muster/core/testing'
import type { testApi } from '../api.ts'

type Row = Record<string, unknown>
/** Columns of the rows of a table; a function gets the first rows of the tables that it refers to. */
export type Rows = Record<string, (Row | ((first: Record<string, Row>) => Row))[]>

/** Inventory of a BMC that reports nothing. */
const INVENTORY = {
  ...{ manufacturer: null, model: null, serial: null, uuid: null, biosVersion: null, bmcModel: null, bmcFirmware: null },
  ...{ cpuModel: null, cpuCount: null, memoryBytes: null, macs: [], systemPaths: [] },
}

/** Tables without rows of a tenant, and secrets of sign-in, which must be valid and which no field returns. */
const OTHER = ['workers', 'credential_keys', 'ingest_liveness', 'sign_in_attempts', 'two_factors', 'verifications']
export const hasOtherRows = (table: string): boolean => OTHER.includes(table)

/** Values of the columns whose generated value would be invalid: columns with a fixed set of values, and JSON with a shape. */
export async function rowsOf(
  t: Awaited<ReturnType<typeof testApi>>,
  tenant: TenantFixture,
  marker: string,
): Promise<{ rows: Rows; first: Record<string, Row> }> {
  const hash = (text: string) => createHash('sha256').update(`${marker} ${text}`).digest('base64')
  const evidence = { reason: marker }
  const vault = { name: marker, address: 'https://vault.test', mount: marker, auth: 'TOKEN', secret: marker } as const
  const store = await createSecretStore(tenant.admin, vault)
  // Their secrets are encrypted; the first is the one that the other rows refer to.
  const kinds = ['SSH_PASSWORD', 'BASTION', 'BECOME', 'GIT', 'SALT', 'SLURMRESTD', 'BMC'] as const
  const credentials: Row[] = []
  for (const [i, kind] of kinds.entries())
    credentials.push(
      await t.given.credential(tenant.admin, kind, {
        name: i ? `${marker}-${kind.toLowerCase()}` : marker,
        description: marker,
        ...(kind === 'BECOME' || kind === 'SSH_PASSWORD' || kind === 'BMC' ? { allowedHosts: [marker] } : {}),
      }),
    )
  const inStore = { password: undefined, secretStoreId: store.id, secretRefs: { password: { path: marker, key: marker } } }
  await t.given.credential(tenant.admin, 'BECOME', { name: `${marker}-stored`, allowedHosts: [marker], ...(inStore as object) })
  const [group, profile] = [newId(), newId()]
  const finished = { startedAt: new Date(), finishedAt: new Date(), endCause: 'exit', exitCode: 2, hostsFailed: 1, hostsTotal: 1 }
  const slurm = {
    ...{ batchSize: 1, deadlineSeconds: 60, floorPercent: 0, healthSeconds: 60, includeReserved: false, maintenanceOnly: false },
    ...{ clusterId: crypto.randomUUID(), clusterName: marker, waitsFor: marker },
  }
  const run = { becomeMethod: 'sudo', endCause: null, limit: null, serial: null }
  const vars = { vars: { [marker]: marker }, source: `${marker}: ${marker}` }
  const query = {
    ...{ query: 'nodes', command: marker, state: 'FAILED', exitCode: 1, durationMs: 1 },
    ...{ detail: marker, hint: marker },
  }
  const controllers = [{ role: 'primary', hostname: marker, isUp: true }]
  const image = { url: `https://${marker}.test/vmlinuz`, checksum: null }
  const bootProfile = {
    ...{ description: marker, arch: null, kernel: image, initrds: [image], rootImage: image, kernelParams: [marker] },
    ...{ adminUser: marker, sshKeys: [`ssh-ed25519 ${marker}`], userData: marker, vendorData: marker, networkConfig: marker },
  }
  const rows: Rows = {
    accounts: [{ providerId: 'oidc' }],
    agent_heartbeat_history: [({ compute_nodes }) => ({ nodeId: compute_nodes!.id })],
    agent_heartbeats: [{ health: 'healthy', reportedDrain: null }],
    agent_keys: [{ publicKey: hash('key'), status: 'WAITING' }],
    agent_transitions: [{ from: null, to: 'ACTIVE', reason: 'registered' }],
    agents: [{ state: 'ACTIVE' }],
    alert_deliveries: [{ event: 'opened', alerts: [] }],
    alert_routes: [{ kind: 'slack', settings: { origin: `https://${marker}.test` } }],
    alert_silences: [{ matcher: { clusters: [marker] } }],
    alerts: [{ kind: 'stale', severity: 'warning', evidence, notifiedEvent: null }],
    api_tokens: [{ role: 'viewer', permissions: null, networks: [] }],
    audit_checkpoints: [{ kind: 'head' }],
    audit_entries: [
      ({ job_runs }) => ({
        runId: job_runs!.id,
        actorKind: 'user',
        actorId: tenant.owner.actor.id,
        action: 'job_run.cancel',
        outcome: 'succeeded',
        channel: 'api',
      }),
    ],
    audit_sinks: [{ kind: 'syslog', settings: { host: `${marker}.test`, port: 6514 } }],
    ledger_entries: [({ compute_nodes }) => ({ nodeId: compute_nodes!.id })],
    openchami_targets: [
      {
        mode: 'REPORT',
        smdUrl: `https://${marker}.test`,
        bssUrl: `https://${marker}.test`,
        requestedMode: null,
        differences: [],
      },
    ],
    boot_assignments: [
      { target: 'GROUP', nodeId: null },
      { target: 'UNKNOWN_MACHINES', nodeId: null, groupId: null },
    ],
    boot_profile_versions: [{ number: 1, content: bootProfile }],
    boot_profiles: [
      { id: profile, content: bootProfile, parentId: null },
      { content: bootProfile, parentId: profile },
    ],
    boot_attempts: [{ cause: 'BOOT_SCRIPT', finishedAt: null, isAbandoned: false }],
    boot_fetches: [{ kind: 'BOOT_SCRIPT' }],
    boot_rules: [
      {
        match: { macPrefixes: ['02'], interfaceMacPrefixes: null, serials: null, systemUuids: null, arch: null },
        accepted: 0,
        maxAccepted: 100,
      },
    ],
    boot_stage_times: [{ stage: 'BOOT_SCRIPT' }],
    unknown_machines: [
      {
        ...{ mac: '02:00:5e:10:00:aa', acceptedAt: null, rejectedAt: null },
        interfaces: [{ name: marker, mac: '02:00:5e:10:00:ab' }],
      },
    ],
    compute_nodes: [
      {
        facts: { marker },
        labels: { [marker]: marker },
        hostKey: null,
        offeredHostKey: null,
        tags: [marker],
        readyAt: new Date(),
      },
    ],
    node_bmcs: [{ protocol: 'REDFISH', caCertificate: null }],
    bmc_readings: [
      ({ node_bmcs }) => ({
        bmcId: node_bmcs!.id,
        reportedState: 'ON',
        inventory: { ...INVENTORY, model: marker },
        sensors: [{ name: marker, kind: 'Temperature', value: 20, unit: 'Cel', health: 'OK' }],
        events: [{ id: marker, at: null, severity: 'OK', message: marker }],
      }),
    ],
    power_runs: [{ action: 'ON', bootDevice: null, cancelRequestedAt: null }],
    power_run_items: [{ before: 'OFF', after: 'ON', result: 'DONE' }],
    bmc_discoveries: [{ addresses: [marker], protocol: 'REDFISH', caCertificate: null, cancelRequestedAt: null }],
    found_bmcs: [{ inventory: { ...INVENTORY, model: marker }, reportedState: 'ON' }],
    manifest_objects: [{ kind: 'ComputeNode', fields: { [marker]: marker } }],
    node_interfaces: [{ addresses: [{ address: marker, network: marker }] }],
    accelerators: [{ deviceType: 'nvidia_gpu', vendor: 'nvidia', health: 'ok', source: 'tool', eccMode: null }],
    discoveries: [{ reason: 'refresh', result: discoveryFixture(), startedAt: new Date(), finishedAt: new Date(), error: null }],
    discovery_evidence: [{ gzip: gzipSync(marker) }],
    grants: [
      { role: 'viewer', templateIds: null, credentialIds: null, clusterId: null, partitions: null },
      { role: 'viewer', groupId: null, templateIds: null, credentialIds: null, partitions: [marker] },
    ],
    invitations: [{ role: 'viewer' }],
    schedules: [
      {
        ...{ target: 'run', rule: '0 3 * * *', timeZone: 'UTC', catchUp: 'skip', overlap: 'skip' },
        ...{ settings: { extraVars: { [marker]: marker } }, ownerId: tenant.owner.actor.id, ownerTokenId: null },
        blackouts: [{ name: marker, rule: '@daily', durationMinutes: 1 }],
        ...{ startsAt: null, endsAt: null, jitterSeconds: 0, isOwnedByToken: false },
      },
    ],
    triggers: [
      {
        ...{ signature: 'muster', maxPerHour: 60, isOwnedByToken: false, encrypted: {}, nodesPath: `/${marker}` },
        ...{ settings: { extraVars: { [marker]: marker } }, ownerId: tenant.owner.actor.id, ownerTokenId: null },
        variables: [{ name: marker, path: `/${marker}`, isRequired: true }],
      },
    ],
    trigger_deliveries: [{ outcome: 'STARTED' }],
    schedule_firings: [{ outcome: 'STARTED', reason: null, discoveryIds: [] }],
    job_artifacts: [{ kind: 'log', store: 'local' }],
    job_run_events: [{ kind: 'output' }, { kind: 'ok', seq: 2 }],
    job_run_hosts: [{ result: 'FAILED' }],
    job_run_batches: [{ phase: 'RUNNING', finishedAt: null }],
    job_run_slurm_nodes: [{ outcome: null, isDrained: true }],
    job_runs: [
      { number: 7001, ...run, ...finished, slurm },
      { number: 7002, ...run, slurm: null },
    ],
    job_templates: [{ serial: null }],
    node_groups: [
      { id: group, memberQuery: null, exclusiveSet: '' },
      { parentId: group, memberQuery: null, exclusiveSet: '' },
      { parentId: null, memberQuery: null, exclusiveSet: marker },
    ],
    job_template_versions: [({ job_templates }) => ({ snapshot: job_templates! })],
    passkeys: [{ deviceType: 'singleDevice' }],
    playbook_bundles: [{ content: zip([{ path: 'site.yml' }]), files: [{ path: marker, size: 1 }] }],
    roles: [{ permissions: ['node:write'] }],
    sessions: [{ isActive: true }],
    slurm_action_items: [{ result: 'REFUSED' }],
    slurm_actions: [{ verb: 'DRAIN_NODES', action: { verb: 'DRAIN_NODES', reason: marker } }],
    slurm_operation_nodes: [{ checks: [{ name: marker, state: 'OK', message: marker }] }],
    slurm_operations: [
      {
        kind: 'SCALE_OUT',
        steps: [
          { name: marker, state: 'DONE', startedAt: '2026-01-01T00:00:00Z', finishedAt: null, runId: null, message: marker },
        ],
      },
    ],
    slurm_readiness_checks: [
      { nodes: [{ nodeId: marker, name: marker, config: {}, checks: [{ name: marker, state: 'OK', message: marker }] }] },
    ],
    slurm_lookups: [
      {
        request: { kind: 'JOB', jobId: '1' },
        result: {
          ...{ searchedSinceSeconds: 1, next: { endSeconds: 1, id: 1 } },
          jobs: [slurmJobRecord(1, { name: marker, user: marker, comment: marker })],
          priorities: [{ id: 1, partition: marker, priority: 1, factors: [] }],
          shares: [{ account: marker, user: marker, shares: 1, usage: 1, fairShare: 1 }],
        },
      },
    ],
    slurm_cluster_tests: [
      {
        queries: [query],
        preview: {
          ...{ clusterName: marker, version: marker, controllers, partitions: [marker] },
          ...{ nodes: 1, cpus: 1, gpus: 1, jobs: 1 },
        },
      },
    ],
    slurm_clusters: [
      {
        kind: 'EXTERNAL',
        failingSince: null,
        refreshedAt: new Date(),
        controllers,
        settings: { ClusterName: marker },
        reservations: [slurmReservation(marker)],
        queries: [query],
        configDrift: { [marker]: marker },
        reuseConfig: false,
      },
    ],
    slurm_config_versions: [
      { origin: 'IMPORTED', number: 1, files: { 'slurm.conf': marker, 'gres.conf': marker }, settings: null },
    ],
    slurm_power_requests: [{ verb: 'SUSPEND' }],
    slurm_power_savings: [
      {
        tokenHashes: [],
        settings: {
          ...{ suspendTimeSeconds: 1, suspendTimeoutSeconds: 1, resumeTimeoutSeconds: 1, suspendRate: 1, resumeRate: 1 },
          ...{ excludedNodes: marker, excludedPartitions: [marker], apiUrl: marker, caCertificate: marker },
        },
      },
    ],
    slurm_config_snippets: [({ slurm_clusters }) => ({ files: { 'slurm.conf': marker }, clusterIds: [slurm_clusters!.id] })],
    slurm_jobs: [
      {
        state: 'PENDING',
        nodeNames: [marker],
        report: slurmJob(1, { name: marker, user: marker, account: marker, nodes: marker, reasonDetail: marker }),
      },
    ],
    slurm_nodes: [
      {
        state: 'MIXED',
        partitions: [marker],
        matchedBy: 'ADDRESS',
        report: slurmNode(marker, { reason: marker, comment: marker, features: [marker] }),
      },
      // No node of the inventory, and none can be added: its address is invalid.
      { state: 'IDLE', nodeId: null, matchedBy: null, matchConflict: null, report: slurmNode('-', { address: '-' }) },
    ],
    slurm_partitions: [{ report: slurmPartition(marker, { nodes: marker, allowGroups: [marker] }) }],
    variable_scopes: [
      { groupId: null, ...vars },
      { groupId: null, nodeId: null, ...vars },
    ],
  }
  return { rows, first: { credentials: credentials[0]!, secret_stores: store } }
}
