import { existsSync, readdirSync } from 'node:fs'
import { runJob } from '@muster/core/runs'
import type { TenantFixture } from '@muster/core/testing'
import { globalId, type TypeName } from '../graphql/shared/ids.ts'
import type { testApi } from './api.ts'

/** The tenant with the objects. The stranger is the owner of another tenant and tries to access them. */
export type Victim = {
  t: Awaited<ReturnType<typeof testApi>>
  tenant: TenantFixture
  credential: { id: string }
  node: { id: string; tenantId: string }
  run: { id: string; tenantId: string; templateId: string }
}

/** What the stranger may know: global IDs of objects of the victim, and names. */
export type Known = { theirs: Record<TypeName, string>; names: { node: string; credential: string } }

export type IsolationCase = {
  query: (known: Known) => string
  /** Expected data. Without it, a subscription must end without an event. */
  answer?: unknown
  /** Expected error code instead of data. */
  code?: string
  /** The stranger does not administer the installation: administrators see and change all tenants here. */
  isOwner?: boolean
}

export type Isolation = {
  /** Creates one object of each type of the domain that has a global ID. */
  objects?: (victim: Victim) => Promise<Partial<Record<TypeName, { id: string }>>>
  /** Each root field of the domain, as `Query.nodes`, with the response to the stranger. */
  cases: Record<string, IsolationCase>
}

/** The part of a domain in isolation.test.ts. */
export const defineIsolation = (isolation: Isolation): Isolation => isolation

const DOMAINS = new URL('../graphql/', import.meta.url)

/** The isolation-cases.ts of each domain. */
export const loadIsolations = (): Promise<Isolation[]> =>
  Promise.all(
    readdirSync(DOMAINS)
      .map((domain) => new URL(`${domain}/isolation-cases.ts`, DOMAINS))
      .filter((file) => existsSync(file))
      .map(async ({ pathname }) => ((await import(/* @vite-ignore */ pathname)) as { isolation: Isolation }).isolation),
  )

/** Creates a tenant with one object of each type that has a global ID. */
export async function createVictim(t: Victim['t'], isolations: Isolation[]): Promise<{ tenant: TenantFixture; known: Known }> {
  const tenant = await t.given.tenant()
  const credential = await t.given.credential(tenant.admin, 'SSH_KEY')
  const options = { nodes: 1, accelerators: 1, prefix: 'secret', with: { credentialId: credential.id } }
  const [node] = await t.given.fleet(tenant.operator, options)
  const run = await runJob(tenant.operator, { template: 'connectivity_check', nodeIds: [node!.id] })
  const theirs: Partial<Known['theirs']> = {}
  for (const { objects } of isolations) {
    const created = Object.entries((await objects?.({ t, tenant, credential, node: node!, run })) ?? {})
    for (const [type, { id }] of created) theirs[type as TypeName] = globalId(type as TypeName, id)
  }
  return { tenant, known: { theirs: theirs as Known['theirs'], names: { node: node!.name, credential: credential.name } } }
}

export const EMPTY_PAGE = { edges: [] }
export const NOT_FOUND = { __typename: 'NotFoundError' }
