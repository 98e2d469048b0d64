import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { BootArchInput } from '../../boot-profiles/index.ts'
import { bootProfiles } from '../../boot-profiles/tables.ts'
import { nodeGroups } from '../../groups/tables.ts'
import { NodeName } from '../../kernel/address.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { DomainError, type InputIssue, InvalidInput } from '../../kernel/errors.ts'
import { Id, singleLineText } from '../../kernel/input.ts'
import { expandHostlist } from '../../selection/index.ts'
import type { BootRuleMatch } from '../tables.ts'

const MAX_NAMES = 10_000
const MAX_VALUES = 100

/** Prefix of a MAC: 1 to 6 bytes, with or without separators. */
const MacPrefix = z.string().transform((text, issue) => {
  const digits = text.toLowerCase().replace(/[:.\-\s]/g, '')
  if (/^([0-9a-f]{2}){1,6}$/.test(digits)) return digits.match(/../g)!.join(':')
  issue.addIssue('must be a MAC or its first bytes, such as 02:00:5e')
  return z.NEVER
})
const Pattern = singleLineText(128)

const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .max(MAX_VALUES, `at most ${MAX_VALUES}`)
    .transform((values) => (values.length > 0 ? [...new Set(values)] : null))

const Names = singleLineText(2000).superRefine((text, issue) => {
  try {
    const names = expandHostlist(text, { max: MAX_NAMES })
    const wrong = names.map((name) => ({ name, result: NodeName.safeParse(name) })).find(({ result }) => !result.success)
    if (wrong) issue.addIssue(`${wrong.name} is not a name of a node: it ${wrong.result.error!.issues[0]!.message}`)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    issue.addIssue(error instanceof InvalidInput ? error.issues[0]!.message : error.message)
  }
})

/** Fields of a rule that users set. Conditions: null or an empty list matches any value. */
export const BOOT_RULE_FIELDS = {
  priority: z.int('must be a whole number').min(0).max(100_000).optional(),
  isEnabled: z.boolean().optional(),
  macPrefixes: list(MacPrefix).nullish(),
  interfaceMacPrefixes: list(MacPrefix).nullish(),
  serials: list(Pattern).nullish(),
  systemUuids: list(Pattern).nullish(),
  arch: BootArchInput.nullish(),
  groupId: Id.nullish(),
  profileId: Id.nullish(),
}
export const BootRuleNames = Names
export const MaxAccepted = z.int('must be a whole number').min(1, 'must be at least 1').max(100_000, 'must be at most 100,000')

type Conditions = { [K in keyof BootRuleMatch]?: BootRuleMatch[K] | undefined }

/** The conditions after a change; omitted ones keep their values. @throws InvalidInput without a condition, it would accept every machine */
export function matchAfter(before: BootRuleMatch | null, given: Conditions): BootRuleMatch {
  const of = <K extends keyof BootRuleMatch>(key: K): BootRuleMatch[K] | null =>
    given[key] === undefined ? (before?.[key] ?? null) : (given[key] as BootRuleMatch[K])
  const match: BootRuleMatch = {
    macPrefixes: of('macPrefixes'),
    interfaceMacPrefixes: of('interfaceMacPrefixes'),
    serials: of('serials'),
    systemUuids: of('systemUuids'),
    arch: of('arch'),
  }
  if (!match.macPrefixes && !match.interfaceMacPrefixes && !match.serials && !match.systemUuids)
    throw new InvalidInput([
      {
        path: 'macPrefixes',
        message: 'give MACs, MACs of interfaces, serial numbers or UUIDs: otherwise the rule accepts every machine',
      },
    ])
  return match
}

/** @throws InvalidInput the group or profile does not exist */
export async function assertReferences(
  tx: Tx,
  ctx: Ctx,
  { groupId, profileId }: { groupId?: string | null | undefined; profileId?: string | null | undefined },
): Promise<void> {
  const issues: InputIssue[] = []
  if (groupId && (await tx.$count(nodeGroups, and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, groupId)))) === 0)
    issues.push({ path: 'groupId', message: `there is no group ${groupId}` })
  if (profileId && (await tx.$count(bootProfiles, and(visibleTo(ctx, bootProfiles), eq(bootProfiles.id, profileId)))) === 0)
    issues.push({ path: 'profileId', message: `there is no boot profile ${profileId}` })
  if (issues.length > 0) throw new InvalidInput(issues)
}
