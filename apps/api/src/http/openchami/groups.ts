import { NotFound, parseInput } from '@muster/core/errors'
import { deleteNodeGroup, updateNodeGroup } from '@muster/core/groups'
import { normalizeXname } from '@muster/core/nodes'
import {
  type ComponentGroup,
  createComponentGroup,
  readComponentGroups,
  readComponents,
  setComponentGroupMembers,
} from '@muster/core/openchami'
import type { Ctx } from '@muster/core/registry'
import { z } from 'zod'
import { findComponent } from './components.ts'
import { done, matches } from './filters.ts'
import type { Answer, OpenchamiRequest } from './request.ts'

export const FILTERS = ['group']
const PATH = '/hsm/v2/groups'

const toGroup = ({ group, label, xnames }: ComponentGroup) => ({
  label,
  description: group.description,
  ...(group.exclusiveSet ? { exclusiveGroup: group.exclusiveSet } : {}),
  members: { ids: xnames },
})

async function find({ ctx, params: { label } }: OpenchamiRequest): Promise<ComponentGroup> {
  const found = (await readComponentGroups(ctx)).find((one) => one.label.toLowerCase() === label!.toLowerCase())
  if (!found) throw new NotFound(`There is no group ${label}.`)
  return found
}

export const list = async ({ ctx, query }: OpenchamiRequest): Promise<Answer> => ({
  status: 200,
  body: (await readComponentGroups(ctx)).filter(({ label }) => matches(query, 'group', [label])).map(toGroup),
})
export const labels = async ({ ctx }: OpenchamiRequest): Promise<Answer> => ({
  status: 200,
  body: (await readComponentGroups(ctx)).map(({ label }) => label),
})
export const get = async (request: OpenchamiRequest): Promise<Answer> => ({ status: 200, body: toGroup(await find(request)) })
export const members = async (request: OpenchamiRequest): Promise<Answer> => ({
  status: 200,
  body: { ids: (await find(request)).xnames },
})

const Tags = z.array(z.string()).max(0, 'must be empty: groups of Muster have no tags').nullish()
const PostBody = z.object({
  label: z.string(),
  description: z.string().nullish(),
  exclusiveGroup: z.string().nullish(),
  tags: Tags,
  members: z.object({ ids: z.array(z.string()).nullish() }).nullish(),
})
const PatchBody = z.object({ description: z.string().nullish(), tags: Tags })

export async function post({ ctx, body }: OpenchamiRequest): Promise<Answer> {
  const { label, description, exclusiveGroup, members } = parseInput(PostBody, body)
  await createComponentGroup(ctx, { label, description, exclusiveGroup, xnames: members?.ids ?? [] })
  const URI = `${PATH}/${label}`
  return { status: 201, location: URI, body: [{ URI }] }
}

export async function patch(request: OpenchamiRequest): Promise<Answer> {
  const { description } = parseInput(PatchBody, request.body)
  const { group } = await find(request)
  if (description !== undefined && description !== null) await updateNodeGroup(request.ctx, { id: group.id, description })
  return { status: 204 }
}

export async function remove(request: OpenchamiRequest): Promise<Answer> {
  await deleteNodeGroup(request.ctx, { id: (await find(request)).group.id })
  return done('deleted 1 entry')
}

export async function postMember({ ctx, params, body }: OpenchamiRequest): Promise<Answer> {
  const { id } = parseInput(z.object({ id: z.string() }), body)
  await setComponentGroupMembers(ctx, { label: params.label!, change: 'add', xnames: [id] })
  return membersAnswer(params.label!, [id])
}

export async function putMembers({ ctx, params, body }: OpenchamiRequest): Promise<Answer> {
  const { ids } = parseInput(z.object({ ids: z.array(z.string()) }), body)
  await setComponentGroupMembers(ctx, { label: params.label!, change: 'replace', xnames: ids })
  return membersAnswer(params.label!, ids)
}

function membersAnswer(label: string, ids: string[]): Answer {
  if (ids.length === 0) return { status: 204 }
  return { status: 201, body: ids.map((id) => ({ URI: `${PATH}/${label}/members/${normalizeXname(id)}` })) }
}

export async function removeMember({ ctx, params }: OpenchamiRequest): Promise<Answer> {
  await setComponentGroupMembers(ctx, { label: params.label!, change: 'remove', xnames: [params.xname!] })
  return done('deleted 1 entry')
}

const readMemberships = async (ctx: Ctx) => {
  const pairs = (await readComponentGroups(ctx)).flatMap(({ label, xnames }) => xnames.map((xname) => ({ label, xname })))
  const ofXname = Map.groupBy(pairs, ({ xname }) => xname)
  return (xname: string) => ({
    id: xname,
    groupLabels: (ofXname.get(xname) ?? []).map(({ label }) => label),
    partitionName: '',
  })
}

export async function memberships({ ctx, query }: OpenchamiRequest): Promise<Answer> {
  const membershipOf = await readMemberships(ctx)
  const xnames = (await readComponents(ctx)).map(({ xname }) => xname)
  return { status: 200, body: xnames.filter((xname) => matches(query, 'id', [xname])).map(membershipOf) }
}

export async function membership({ ctx, params }: OpenchamiRequest): Promise<Answer> {
  const { xname } = await findComponent(ctx, params.xname!)
  return { status: 200, body: (await readMemberships(ctx))(xname) }
}
