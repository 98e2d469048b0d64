import { and, asc, eq, lt, sql } from 'drizzle-orm'
import { assignBootProfile } from '../../boot-profiles/index.ts'
import { setNodeGroupMembers } from '../../groups/index.ts'
import { type Ctx, inTransaction } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, DomainError } from '../../kernel/errors.ts'
import { computeNodes } from '../../nodes/tables.ts'
import { expandHostlist } from '../../selection/index.ts'
import { acceptUnknownMachine } from '../accept-unknown-machine.ts'
import { bootRuleChanged } from '../change-events.ts'
import { type BootRule, bootRules, type UnknownMachine, unknownMachines } from '../tables.ts'
import { matches } from './matches.ts'

/** Machines per tenant and pass; the next pass takes the others. */
const MAX_MACHINES = 500

/**
 * Accepts the machines of one tenant.
 * @param ctxOf returns the context with this actor name
 */
export async function acceptInTenant(ctxOf: (name: string) => Ctx): Promise<number> {
  const ctx = ctxOf('boot rules')
  const isUsable = and(eq(bootRules.isEnabled, true), lt(bootRules.accepted, bootRules.maxAccepted))
  const rules = await ctx.db
    .select()
    .from(bootRules)
    .where(and(visibleTo(ctx, bootRules), isUsable))
    .orderBy(bootRules.priority, bootRules.name)
  const machines = await ctx.db
    .select()
    .from(unknownMachines)
    .where(and(visibleTo(ctx, unknownMachines), eq(unknownMachines.state, 'NEW')))
    .orderBy(asc(unknownMachines.firstSeenAt), unknownMachines.id)
  let accepted = 0
  const failed = new Set<string>()
  for (const machine of machines) {
    const rule = rules.find(({ match }) => matches(match, machine))
    if (!rule || failed.has(rule.id) || accepted >= MAX_MACHINES) continue
    try {
      if (await acceptBy(ctxOf(`boot rule ${rule.name}`), rule, machine)) accepted++
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      // The other machines of this rule would probably fail too; each pass tries one.
      failed.add(rule.id)
      const problem = `${machine.mac}: ${error.message}`.slice(0, 1000)
      if (rule.problem === problem) continue
      await ctx.db
        .update(bootRules)
        .set({ problem, updatedAt: rule.updatedAt })
        .where(and(visibleTo(ctx, bootRules), eq(bootRules.id, rule.id)))
      ctx.notify(bootRuleChanged(rule))
    }
  }
  return accepted
}

/** @returns false when a user decided about the machine, or the rule reached its limit, was disabled or changed meanwhile */
async function acceptBy(ctx: Ctx, { id }: BootRule, machine: UnknownMachine): Promise<boolean> {
  return inTransaction(ctx, async (tx, ctx) => {
    // Locks the rule, so that concurrent workers neither exceed its limit nor assign a name twice.
    const [rule] = await tx
      .select()
      .from(bootRules)
      .where(and(visibleTo(ctx, bootRules), eq(bootRules.id, id)))
      .for('no key update')
    if (!rule?.isEnabled || rule.accepted >= rule.maxAccepted || !matches(rule.match, machine)) return false
    const [waiting] = await tx
      .select({ id: unknownMachines.id })
      .from(unknownMachines)
      .where(and(visibleTo(ctx, unknownMachines), eq(unknownMachines.id, machine.id), eq(unknownMachines.state, 'NEW')))
      .for('update')
    if (!waiting) return false
    const names = expandHostlist(rule.names)
    const taken = await tx
      .select({ name: computeNodes.name })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.name, names, 'text')))
    const used = new Set(taken.map(({ name }) => name))
    const name = names.find((each) => !used.has(each))
    if (name === undefined)
      throw new Conflict(`All names of ${rule.names} belong to nodes. Extend the names of the boot rule ${rule.name}.`)
    const { nodeId } = await acceptUnknownMachine(ctx, { id: machine.id, name })
    if (rule.groupId) await setNodeGroupMembers(ctx, { id: rule.groupId, addNodeIds: [nodeId!] })
    if (rule.profileId) await assignBootProfile(ctx, { profileId: rule.profileId, nodeIds: [nodeId!] })
    await tx
      .update(bootRules)
      .set({ accepted: sql`${bootRules.accepted} + 1`, lastAcceptedAt: sql`now()`, problem: null, updatedAt: rule.updatedAt })
      .where(eq(bootRules.id, id))
    ctx.notify(bootRuleChanged(rule))
    return true
  })
}
