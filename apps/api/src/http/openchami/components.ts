import { InvalidInput, NotFound, parseInput } from '@muster/core/errors'
import { decommissionNode } from '@muster/core/node-states'
import { type NodeType, normalizeXname } from '@muster/core/nodes'
import { type Component, putComponents, ROLES, readComponents } from '@muster/core/openchami'
import type { Ctx } from '@muster/core/registry'
import { z } from 'zod'
import { done, matches } from './filters.ts'
import type { Answer, OpenchamiRequest } from './request.ts'

export const FILTERS = ['id', 'type', 'state', 'flag', 'role', 'enabled', 'arch', 'nid', 'class']

const TYPES = Object.fromEntries(Object.entries(ROLES).map(([type, role]) => [role.toLowerCase(), type as NodeType]))
/** SMD's words: https://github.com/Cray-HPE/hms-base. Standby: it was Ready and no longer answers. */
const STATES = {
  NEW: ['Populated', 'OK'],
  READY: ['Ready', 'OK'],
  MAINTENANCE: ['On', 'OK'],
  UNREACHABLE: ['Standby', 'Alert'],
  DECOMMISSIONED: ['Unknown', 'Unknown'],
} as const
const ARCHS: Record<string, string> = { x86_64: 'X86', aarch64: 'ARM' }

/** A component as SMD shows it. */
export function toComponent({ xname, status, nodeType, nid, arch }: Component) {
  const [state, flag] = STATES[status]
  return {
    ID: xname,
    Type: 'Node',
    State: state,
    Flag: flag,
    Enabled: status !== 'MAINTENANCE',
    Role: ROLES[nodeType],
    ...(nid === null ? {} : { NID: nid }),
    NetType: 'Ethernet',
    Arch: arch === null ? 'UNKNOWN' : (ARCHS[arch] ?? 'Other'),
    Class: 'River',
  }
}

export async function list({ ctx, query }: OpenchamiRequest): Promise<Answer> {
  const all = (await readComponents(ctx)).map(toComponent)
  const Components = all.filter((one) =>
    Object.entries({ ...one, NID: one.NID ?? null }).every(
      ([name, value]) => name === 'NetType' || matches(query, name, [value === null ? null : String(value)]),
    ),
  )
  return { status: 200, body: { Components } }
}

/** @throws NotFound */
export async function findComponent(ctx: Ctx, xname: string): Promise<Component> {
  const found = (await readComponents(ctx)).find((one) => one.xname === normalizeXname(xname))
  if (!found) throw new NotFound(`There is no node with the xname ${xname}.`)
  return found
}

export const get = async ({ ctx, params }: OpenchamiRequest): Promise<Answer> => ({
  status: 200,
  body: toComponent(await findComponent(ctx, params.xname!)),
})

export async function getByNid({ ctx, params: { nid } }: OpenchamiRequest): Promise<Answer> {
  const found = (await readComponents(ctx)).find((one) => String(one.nid) === nid)
  if (!found) throw new NotFound(`There is no node with the NID ${nid}.`)
  return { status: 200, body: toComponent(found) }
}

const Nid = z.union([z.number(), z.string().regex(/^\d+$/, 'must be a number').transform(Number)])
/** State, flag and architecture are accepted and not stored: Muster observes them. Tools send JSON numbers as text, too. */
const Fields = z.object({
  ID: z.string().optional(),
  Type: z.string().nullish(),
  NID: Nid.nullish(),
  Role: z.string().nullish(),
  Enabled: z.boolean().nullish(),
})
const One = Fields.extend({ ID: z.string() })
const PostBody = z.object({ Components: z.array(One).min(1, 'name at least one component') })
const PutBody = z.object({ Component: Fields })
const EnabledBody = z.object({ ComponentIDs: z.array(z.string()).min(1), Enabled: z.boolean() })

function toInput({ ID, Type, NID, Role, Enabled }: z.output<typeof One>) {
  if (Type && Type.toLowerCase() !== 'node')
    throw new InvalidInput([{ path: 'Type', message: `${ID} is a ${Type}; only components of the type Node can be written` }])
  const nodeType = Role ? TYPES[Role.toLowerCase()] : null
  if (nodeType === undefined)
    throw new InvalidInput([{ path: 'Role', message: `${ID}: must be one of ${Object.values(ROLES).join(', ')}` }])
  return { xname: ID, nid: NID, nodeType, isEnabled: Enabled }
}

export async function post({ ctx, body }: OpenchamiRequest): Promise<Answer> {
  const { Components } = parseInput(PostBody, body)
  await putComponents(ctx, { components: Components.map(toInput), addsMissing: true })
  return { status: 204 }
}

export async function put({ ctx, params, body }: OpenchamiRequest): Promise<Answer> {
  const { Component } = parseInput(PutBody, body)
  await putComponents(ctx, { components: [toInput(ofPath(params.xname!, Component))], addsMissing: true })
  return { status: 204 }
}

export async function patchOne({ ctx, params, body }: OpenchamiRequest): Promise<Answer> {
  const one = ofPath(params.xname!, parseInput(Fields, body))
  await putComponents(ctx, { components: [toInput(one)], addsMissing: false })
  return { status: 204 }
}

function ofPath(xname: string, { ID, ...fields }: z.output<typeof Fields>): z.output<typeof One> {
  if (ID !== undefined && normalizeXname(ID) !== normalizeXname(xname))
    throw new InvalidInput([{ path: 'ID', message: `must be ${xname}, as in the path` }])
  return { ...fields, ID: xname }
}

export async function patchNids({ ctx, body }: OpenchamiRequest): Promise<Answer> {
  const { Components } = parseInput(PostBody, body)
  await putComponents(ctx, { components: Components.map(({ ID, NID }) => ({ xname: ID, nid: NID })), addsMissing: false })
  return { status: 204 }
}

export async function patchEnabled({ ctx, body }: OpenchamiRequest): Promise<Answer> {
  const { ComponentIDs, Enabled } = parseInput(EnabledBody, body)
  const components = ComponentIDs.map((xname) => ({ xname, isEnabled: Enabled }))
  await putComponents(ctx, { components, addsMissing: false })
  return { status: 204 }
}

export async function remove({ ctx, params }: OpenchamiRequest): Promise<Answer> {
  const { id } = await findComponent(ctx, params.xname!)
  await decommissionNode(ctx, { id })
  return done('deleted 1 entry')
}
