import { and, asc, eq, sql } from 'drizzle-orm'
import { assignBootProfile } from '../../boot-profiles/index.ts'
import { setNodeGroupMembers } from '../../groups/index.ts'
import { type Ctx, inTransaction } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { DomainError } from '../../kernel/errors.ts'
import { computeNodes } from '../../nodes/tables.ts'
import { expandHostlist } from '../../selection/index.ts'
import { acceptUnknownMachine } from '../accept-unknown-machine.ts'
import { bootRuleChanged } from '../change-events.ts'
import { type BootRule, bootRules, type UnknownMachine, unknownMachines } from '../tables.ts'
import { matches } from './matches.ts'

/** Machines per tenant and pass; the next pass takes the others. */
const MAX_MACHINES = 500
/** Machines per rule and pass that cannot become nodes. Anybody in the boot network can send such machines. */
const MAX_FAILURES = 5

/**
 * IDs of machines that could not become nodes, by tenant, the one that failed last at the end. Machines that never failed come before
 * them, and each pass tries other ones. Only the order depends on it, so each process has its own.
 */
const failedMachines = new Map<string, Set<string>>()

/**
 * Accepts the machines of one tenant.
 * @param ctxOf returns the context with this actor name
 */
export async function acceptInTenant(ctxOf: (name: string) => Ctx): Promise<number> {
  const ctx = ctxOf('boot rules')
  const rules = await ctx.db
    .select()
    .from(bootRules)
    .where(and(visibleTo(ctx, bootRules), eq(bootRules.isEnabled, true)))
    .orderBy(bootRules.priority, bootRules.name)
  const machines = await readMachines(ctx)
  let accepted = 0
  const failures = new Map<string, number>()
  const fail = async (rule: BootRule, { mac }: UnknownMachine, message: string, isOfRule: boolean) => {
    const before = failures.get(rule.id) ?? 0
    failures.set(rule.id, isOfRule ? MAX_FAILURES : before + 1)
    if (before === 0 || isOfRule) await writeProblem(ctx, rule, `${mac}: ${message}`.slice(0, 1000))
  }
  const freeNames = new Map<string, string[]>()
  for (const machine of machines) {
    const rule = rules.find(({ match }) => matches(match, machine))
    if (!rule || (failures.get(rule.id) ?? 0) >= MAX_FAILURES || accepted >= MAX_MACHINES) continue
    // A rule that is used up keeps its machines: the next rule would give them another name, group and profile.
    if (rule.accepted >= rule.maxAccepted) {
      await fail(
        rule,
        machine,
        `The boot rule ${rule.name} accepted ${rule.accepted} machines, its limit. Raise the limit.`,
        true,
      )
      continue
    }
    const names = freeNames.get(rule.id) ?? (await findFreeNames(ctx, rule))
    freeNames.set(rule.id, names)
    const result = await acceptBy(ctxOf(`boot rule ${rule.name}`), rule, machine, names)
    if (result === 'ACCEPTED') {
      names.shift()
      accepted++
      rule.accepted++
      rule.problem = null
    } else if (result !== 'SKIPPED') {
      if (!result.isOfRule) rememberFailure(ctx, machine)
      await fail(rule, machine, result.message, result.isOfRule)
    }
  }
  return accepted
}

/** Machines that wait: in the order in which they asked first, then those that failed, the one that failed first at the beginning. */
async function readMachines(ctx: Ctx): Promise<UnknownMachine[]> {
  const machines = await ctx.db
    .select()
    .from(unknownMachines)
    .where(and(visibleTo(ctx, unknownMachines), eq(unknownMachines.state, 'NEW')))
    .orderBy(asc(unknownMachines.firstSeenAt), unknownMachines.id)
  const byId = new Map(machines.map((machine) => [machine.id, machine]))
  const failed = new Set([...(failedMachines.get(ctx.tenantId) ?? [])].filter((id) => byId.has(id)))
  if (failed.size > 0) failedMachines.set(ctx.tenantId, failed)
  else failedMachines.delete(ctx.tenantId)
  return [...machines.filter(({ id }) => !failed.has(id)), ...[...failed].map((id) => byId.get(id)!)]
}

function rememberFailure({ tenantId }: Ctx, { id }: UnknownMachine): void {
  const failed = failedMachines.get(tenantId) ?? new Set()
  failed.delete(id)
  failedMachines.set(tenantId, failed.add(id))
}

async function writeProblem(ctx: Ctx, rule: BootRule, problem: string): Promise<void> {
  if (rule.problem === problem) return
  rule.problem = problem
  await ctx.db
    .update(bootRules)
    .set({ problem, updatedAt: rule.updatedAt })
    .where(and(visibleTo(ctx, bootRules), eq(bootRules.id, rule.id)))
  ctx.notify(bootRuleChanged(rule))
}

/** The names of a rule that no node has, read once per pass: a rule can have thousands. */
async function findFreeNames(ctx: Ctx, rule: BootRule): Promise<string[]> {
  const names = expandHostlist(rule.names)
  const taken = await ctx.db
    .select({ name: computeNodes.name })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.name, names, 'text')))
  const used = new Set(taken.map(({ name }) => name))
  return names.filter((name) => !used.has(name))
}

/** `isOfRule`: other machines of the rule would fail, too. */
type Failure = { message: string; isOfRule: boolean }

/**
 * @param names free names, the next one first; those that nodes got meanwhile are removed
 * @returns SKIPPED when somebody decided about the machine, or the rule was used up, disabled or changed meanwhile
 */
async function acceptBy(
  ctx: Ctx,
  { id, names: given }: BootRule,
  machine: UnknownMachine,
  names: string[],
): Promise<'ACCEPTED' | 'SKIPPED' | Failure> {
  let isOfRule = true
  try {
    return await inTransaction(ctx, async (tx, ctx) => {
      // Locks the rule, so that concurrent workers neither exceed its limit nor give a name twice.
      const [rule] = await tx
        .select()
        .from(bootRules)
        .where(and(visibleTo(ctx, bootRules), eq(bootRules.id, id)))
        .for('no key update')
      if (!rule?.isEnabled || rule.accepted >= rule.maxAccepted || rule.names !== given || !matches(rule.match, machine))
        return 'SKIPPED'
      const [waiting] = await tx
        .select({ id: unknownMachines.id })
        .from(unknownMachines)
        .where(and(visibleTo(ctx, unknownMachines), eq(unknownMachines.id, machine.id), eq(unknownMachines.state, 'NEW')))
        .for('update')
      if (!waiting) return 'SKIPPED'
      const isTaken = (name: string) => tx.$count(computeNodes, and(visibleTo(ctx, computeNodes), eq(computeNodes.name, name)))
      while (names[0] !== undefined && (await isTaken(names[0])) > 0) names.shift()
      const [name] = names
      if (name === undefined) {
        const message = `All names of ${rule.names} belong to nodes. Extend the names of the boot rule ${rule.name}.`
        return { message, isOfRule: true }
      }
      isOfRule = false
      const { nodeId } = await acceptUnknownMachine(ctx, { id: machine.id, name })
      isOfRule = true
      if (rule.groupId) await setNodeGroupMembers(ctx, { id: rule.groupId, addNodeIds: [nodeId!] })
      if (rule.profileId) await assignBootProfile(ctx, { profileId: rule.profileId, nodeIds: [nodeId!] })
      await tx
        .update(bootRules)
        .set({ accepted: sql`${bootRules.accepted} + 1`, lastAcceptedAt: sql`now()`, problem: null, updatedAt: rule.updatedAt })
        .where(eq(bootRules.id, id))
      ctx.notify(bootRuleChanged(rule))
      return 'ACCEPTED'
    })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { message: error.message, isOfRule }
  }
}
