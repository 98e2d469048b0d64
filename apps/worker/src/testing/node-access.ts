import type { Hop, Login, NodeAccess } from '@muster/core/credentials/access'
import type { LabHost } from '@muster/lab'

/** A lab host's key in pinned form, `type base64`. */
export const pinnedKey = (host: LabHost): string => host.hostPublicKey.split(' ').slice(0, 2).join(' ')

type Overrides = {
  host?: string
  port?: number
  hostKey?: string | null
  hops?: Hop[]
  become?: NodeAccess['become']
}

/** Access to a lab node as the domain resolves it, for tests without a database. */
export function nodeAccessFor(host: LabHost, login: Login, overrides: Overrides = {}): NodeAccess {
  const { hops = [], become = { method: 'sudo', user: 'root', password: null }, ...columns } = overrides
  const now = new Date()
  return {
    python: null,
    hops,
    become,
    login,
    node: {
      id: '00000000-0000-7000-8000-000000000001',
      tenantId: '00000000-0000-7000-8000-000000000002',
      name: host.name,
      displayName: null,
      host: host.host,
      port: host.port,
      connectionType: 'ssh',
      sshUser: login.username,
      nodeType: 'COMPUTE',
      tags: [],
      labels: {},
      region: null,
      datacenter: null,
      rack: null,
      rackPosition: null,
      xname: null,
      nid: null,
      managementIp: null,
      notes: '',
      credentialId: null,
      becomeCredentialId: null,
      bastionId: null,
      hostKey: pinnedKey(host),
      hostKeyApprovedAt: now,
      offeredHostKey: null,
      offeredHostKeyAt: null,
      arch: null,
      osName: null,
      osId: null,
      osVersion: null,
      kernel: null,
      cpuModel: null,
      cpuSockets: null,
      cpuCores: null,
      cpuThreads: null,
      memoryBytes: null,
      machineId: null,
      bootId: null,
      bootedAt: null,
      discoveredAt: null,
      readyAt: null,
      lastSeenAt: null,
      unreachableSince: null,
      unreachableReason: null,
      maintenanceAt: null,
      maintenanceUntil: null,
      maintenanceReason: null,
      maintenanceById: null,
      maintenanceByName: null,
      maintenanceRunId: null,
      decommissionedAt: null,
      status: 'NEW',
      createdAt: now,
      updatedAt: now,
      ...columns,
    },
  }
}

/** A lab bastion as a hop. */
export function createHop(host: LabHost, login: Login, overrides: Partial<Hop> = {}): Hop {
  const credentialId = '00000000-0000-7000-8000-000000000003'
  return {
    credentialId,
    name: 'edge',
    host: host.host,
    port: host.port,
    login,
    hostKey: pinnedKey(host),
    offeredHostKey: null,
    ...overrides,
  }
}
