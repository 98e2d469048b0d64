import { describe, expect, it } from 'vitest'
import { type Actor, actorColumns, createdBy, SYSTEM } from './context.ts'
import { actorRole } from './permissions.ts'

describe('actorColumns', () => {
  it.each<[string, Actor, string | null]>([
    ['the user', { kind: 'user', id: 'u1', name: 'Ada', ...actorRole('admin') }, 'u1'],
    ['the owner of a token', { kind: 'token', id: 't1', name: 'ci', ...actorRole('admin'), userId: 'u1' }, 'u1'],
    ['no user for a token without an owner', { kind: 'token', id: 't1', name: 'ci', ...actorRole('admin'), userId: null }, null],
    ['no user for a worker', { kind: 'worker', id: 'w1', name: 'worker' }, null],
    ['no user for an agent', { kind: 'agent', id: 'n1', name: 'gpu001' }, null],
    ['no user for Muster', SYSTEM, null],
  ])('names %s', (_, actor, userId) => {
    expect(actorColumns({ actor }, 'revoked')).toEqual({ revokedById: userId, revokedByName: actor.name })
    expect(createdBy({ actor })).toEqual({ createdById: userId, createdByName: actor.name })
  })
})
