import { describe, expect, it, test } from 'vitest'
import { permissionDeniedReason, SYSTEM } from './kernel/context.ts'
import {
  actorRole,
  BUILT_IN_ROLES,
  type BuiltInRole,
  grantablePermissions,
  installationPermissions,
  type Permission,
  rolePermissions,
} from './kernel/permissions.ts'
import { permissions } from './registry.ts'

const all = Object.values(permissions).flatMap((group) => Object.values<Permission>(group))
const actor = (role: string, isInstallationAdmin = false) =>
  ({ kind: 'user', id: 'u', name: 'Ada', ...actorRole(role, isInstallationAdmin) }) as const

test('the registry has every permission that people can hold, each once and with a description', () => {
  const held = all.filter(({ holder }) => !['agent', 'system', 'worker'].includes(holder))
  expect(held.map(({ name }) => name).sort()).toEqual(grantablePermissions().map(({ name }) => name))
  for (const { name, description } of all) expect(description, name).toMatch(/^[A-Z].*\.$/)
})

test('each built-in role includes the ones before it', () => {
  for (const [i, role] of BUILT_IN_ROLES.slice(1).entries())
    expect([...rolePermissions(BUILT_IN_ROLES[i] as BuiltInRole)].filter((name) => !rolePermissions(role).has(name))).toEqual([])
})

describe('permissionDeniedReason', () => {
  const byHolder = (holder: string) => all.filter((permission) => permission.holder === holder)

  it('allows what the permissions of the actor name, whatever its role is called', () => {
    const [write] = byHolder('admin')
    expect(permissionDeniedReason(actor('admin'), write!)).toBeNull()
    expect(permissionDeniedReason({ ...actor('owner'), permissions: new Set() }, write!)).toContain(write!.name)
    expect(permissionDeniedReason({ ...actor('viewer'), permissions: new Set([write!.name]) }, write!)).toBeNull()
  })

  it('denies everything to an unknown role', () => {
    for (const permission of all) expect(permissionDeniedReason(actor('king'), permission), permission.name).not.toBeNull()
  })

  it('gives permissions of the installation only to its administrators', () => {
    expect([...installationPermissions()]).toEqual(
      expect.arrayContaining(['tenant:create', 'queue:limit', 'worker:drain', 'credential:rotate_key']),
    )
    for (const permission of byHolder('installation')) {
      for (const role of BUILT_IN_ROLES)
        expect(permissionDeniedReason(actor(role), permission)).toMatch('installation administrator')
      expect(permissionDeniedReason(actor('viewer', true), permission)).toBeNull()
      expect(permissionDeniedReason(SYSTEM, permission)).toBeNull()
    }
    for (const permission of byHolder('admin')) expect(permissionDeniedReason(actor('viewer', true), permission)).not.toBeNull()
  })

  it('denies permissions of Muster itself to every person', () => {
    for (const permission of ['worker', 'system', 'agent'].flatMap(byHolder))
      expect(permissionDeniedReason(actor('owner', true), permission)).not.toBeNull()
  })
})
