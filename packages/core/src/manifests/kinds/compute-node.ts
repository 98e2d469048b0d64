import { and, asc } from 'drizzle-orm'
import { z } from 'zod'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { type InputIssue, InvalidInput } from '../../kernel/errors.ts'
import { decommissionNodes } from '../../node-states/index.ts'
import {
  addNodes,
  BMC_FIELDS,
  BMC_PORTS,
  NODE_FIELDS,
  recommissionNode,
  removeNodeBmcs,
  setNodeBmcs,
  updateNodes,
} from '../../nodes/index.ts'
import { computeNodes, LEAN_NODE, nodeBmcs, nodeInterfaces } from '../../nodes/tables.ts'
import { type Item, type Kind, Name, type Scope, type Spec, type Stored, specOf, verbInput } from './kind.ts'

const { name, credentialId: _credential, becomeCredentialId: _become, bastionId: _bastion, ...plain } = NODE_FIELDS
const { credentialId: _bmcCredential, ...bmcFields } = BMC_FIELDS
const Bmc = z.strictObject({ ...bmcFields, protocol: bmcFields.protocol.nullish(), credential: Name })

const REFS = { credential: 'Credential', becomeCredential: 'Credential', bastion: 'Credential' } as const
const DEFAULTS = { port: 22, connectionType: 'ssh', nodeType: 'COMPUTE', tags: [], labels: {}, notes: '', interfaces: [] }

const kind = {
  spec: z.strictObject({
    ...z.object(plain).partial().shape,
    bmc: Bmc.nullish(),
    credential: Name.nullish(),
    becomeCredential: Name.nullish(),
    bastion: Name.nullish(),
  }),
  maps: ['labels'],
  defaults: DEFAULTS,
}

async function read({ tx, ctx, lookup }: Scope, names: string[] | null): Promise<Stored[]> {
  const ofKind = and(visibleTo(ctx, computeNodes), names ? isOneOf(computeNodes.name, names, 'text') : undefined)
  const nodes = await tx.select(LEAN_NODE).from(computeNodes).where(ofKind)
  const ids = nodes.map(({ id }) => id)
  const interfaces = await tx
    .select()
    .from(nodeInterfaces)
    .where(and(visibleTo(ctx, nodeInterfaces), isOneOf(nodeInterfaces.nodeId, ids)))
    .orderBy(asc(nodeInterfaces.position))
  const bmcs = await tx
    .select()
    .from(nodeBmcs)
    .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, ids)))
  const wired = Map.groupBy(interfaces, ({ nodeId }) => nodeId)
  const bmcOf = new Map(bmcs.map((bmc) => [bmc.nodeId, bmc]))
  const stored: Stored[] = []
  for (const node of nodes) {
    const bmc = bmcOf.get(node.id)
    const spec = specOf(kind, {
      ...node,
      interfaces: (wired.get(node.id) ?? []).map(({ name, mac, isBoot, addresses }) => ({ name, mac, isBoot, addresses })),
      bmc: bmc && {
        ...pick(bmc, ['address', 'port', 'mac', 'protocol', 'fingerprint', 'caCertificate', 'systemPath']),
        credential: await lookup.name('Credential', bmc.credentialId),
      },
      credential: await lookup.name('Credential', node.credentialId),
      becomeCredential: await lookup.name('Credential', node.becomeCredentialId),
      bastion: await lookup.name('Credential', node.bastionId),
    })
    const isRetired = node.decommissionedAt !== null
    stored.push({ id: node.id, name: node.name, spec: normalize(spec), ...(isRetired ? { isRetired } : {}) })
  }
  return stored
}

const pick = <T extends object, K extends keyof T>(from: T, keys: readonly K[]) =>
  Object.fromEntries(keys.map((key) => [key, from[key]]))

type Bmc = { protocol?: 'REDFISH' | 'IPMI'; port?: number; credential: string }

function normalize(spec: Spec): Spec {
  if (!spec.bmc) return spec
  const { protocol = 'REDFISH', port, ...rest } = spec.bmc as Bmc
  const bmc = {
    ...rest,
    ...(protocol === 'REDFISH' ? {} : { protocol }),
    ...(port === undefined || port === BMC_PORTS[protocol] ? {} : { port }),
  }
  return { ...spec, bmc: sorted(bmc) }
}

const sorted = (bmc: Spec): Spec =>
  Object.fromEntries(Object.keys(Bmc.shape).flatMap((key) => (bmc[key] === undefined ? [] : [[key, bmc[key]]])))

async function bmcInput({ lookup }: Scope, bmc: unknown): Promise<Spec> {
  const { credential, ...fields } = bmc as Bmc
  return { ...fields, credentialId: await lookup.id('Credential', credential, 'bmc.credential') }
}

async function newNode(scope: Scope, { name, spec: { bmc, ...spec } }: Item) {
  const fields = await verbInput(scope, { refs: REFS, defaults: DEFAULTS }, spec)
  return { ...fields, name, ...(bmc ? { bmc: await bmcInput(scope, bmc) } : {}) } as never
}

/** Inputs of a verb for many nodes. @throws InvalidInput at `nodes.N.field` */
async function inputsOf<T>(items: Item[], inputOf: (item: Item) => Promise<T>): Promise<T[]> {
  const inputs: T[] = []
  const issues: InputIssue[] = []
  for (const [i, item] of items.entries())
    try {
      inputs.push(await inputOf(item))
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      issues.push(...error.issues.map(({ path, message }) => ({ path: `nodes.${i}.${path}`, message })))
    }
  if (issues.length > 0) throw new InvalidInput(issues)
  return inputs
}

async function createAll(scope: Scope, items: Item[]): Promise<Map<string, string>> {
  const nodes = await inputsOf(items, (item) => newNode(scope, item))
  const added = await addNodes(scope.ctx, { nodes })
  return new Map(added.map(({ id, name }) => [name, id]))
}

async function nodeUpdate(scope: Scope, { stored, changed: { bmc: _bmc, ...changed } }: Item) {
  return { id: stored!.id, ...(await verbInput(scope, { refs: REFS, defaults: DEFAULTS }, changed)) }
}

const UNSET = { port: null, mac: null, protocol: 'REDFISH', fingerprint: null, caCertificate: null, systemPath: null }

async function nodeBmc(scope: Scope, { stored, changed: { bmc } }: Item) {
  return { nodeId: stored!.id, ...UNSET, ...(await bmcInput(scope, bmc)) } as BmcInput
}
type BmcInput = Parameters<typeof setNodeBmcs>[1]['nodes'][number]

async function updateAll(scope: Scope, items: Item[]): Promise<void> {
  const { ctx, localTargets } = scope
  const isOther = ({ changed: { bmc: _bmc, ...changed } }: Item) => Object.keys(changed).length > 0
  await some(items, isOther, async (part) => updateNodes(ctx, { nodes: await inputsOf(part, (item) => nodeUpdate(scope, item)) }))
  // Nodes can get BMCs that others lose.
  const isWithout = ({ changed }: Item) => changed.bmc === null
  await some(items, isWithout, (part) => removeNodeBmcs(ctx, { nodeIds: part.map(({ stored }) => stored!.id) }))
  const hasBmc = ({ changed }: Item) => Boolean(changed.bmc)
  const set = async (part: Item[]) =>
    setNodeBmcs(ctx, { nodes: await inputsOf(part, (item) => nodeBmc(scope, item)) }, localTargets)
  await some(items, hasBmc, set, 'bmc.')
}

/**
 * Calls a verb for many nodes with the items that need it, when there are any.
 * @param prefix path of the verb's fields in the spec
 * @throws InvalidInput with the indices of `items`
 */
async function some(
  items: Item[],
  isNeeded: (item: Item) => boolean,
  verb: (part: Item[]) => Promise<void>,
  prefix = '',
): Promise<void> {
  const indices = [...items.keys()].filter((i) => isNeeded(items[i]!))
  if (indices.length === 0) return
  await verb(indices.map((i) => items[i]!)).catch((error: unknown) => {
    if (!(error instanceof InvalidInput)) throw error
    throw new InvalidInput(
      error.issues.map(({ path, message }) => {
        const [, index, field = ''] = /^nodes\.(\d+)\.?(.*)$/.exec(path) ?? []
        const full = field.startsWith(prefix) ? field : `${prefix}${field}`
        return { path: index === undefined ? path : `nodes.${indices[Number(index)]}.${full}`, message }
      }),
    )
  })
}

export const computeNode: Kind = {
  ...kind,
  kind: 'ComputeNode',
  description: 'A managed machine, or with `metadata.nodes` one per name of a hostlist.',
  name,
  individual: ['host', 'displayName', 'rackPosition', 'xname', 'nid', 'managementIp', 'interfaces', 'bmc'],
  hints: { name: 'the name of a node is metadata.name', groups: 'list the node in members of the NodeGroup' },
  normalize,
  unique: ({ xname, nid, interfaces }) => [
    ...(xname ? [{ what: 'xname', value: String(xname), path: 'xname' }] : []),
    ...(nid === undefined || nid === null ? [] : [{ what: 'NID', value: String(nid), path: 'nid' }]),
    ...((interfaces as { mac: string }[] | undefined) ?? []).map(({ mac }, i) => ({
      ...{ what: 'MAC', value: mac, path: `interfaces.${i}.mac` },
    })),
  ],
  read,
  create: async (scope, item) => (await createAll(scope, [item])).get(item.name)!,
  createAll,
  isPlainUpdate: ({ stored }) => !stored.isRetired,
  updateAll,
  update: (scope, item) => updateAll(scope, [item]),
  restore: async ({ ctx }, { id }) => void (await recommissionNode(ctx, { id })),
  remove: async ({ ctx }, { id }) => void (await decommissionNodes(ctx, { ids: [id] })),
  removeAll: ({ ctx }, stored) => decommissionNodes(ctx, { ids: stored.map(({ id }) => id) }),
}
