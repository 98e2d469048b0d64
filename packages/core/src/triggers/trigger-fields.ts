import { z } from 'zod'
import { authorizeNodes } from '../groups/index.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { multilineText, singleLineText } from '../kernel/input.ts'
import { assertLaunchable, RunSettings } from '../runs/index.ts'
import { selectNodes } from '../selection/index.ts'
import { variableNameError } from '../templates/index.ts'
import { JSON_POINTER } from './json-pointer.ts'
import { triggerPermissions } from './permissions.ts'
import { TRIGGER_SIGNATURES, type Trigger } from './tables.ts'

const MAX_VARIABLES = 50
const Pointer = singleLineText(500).regex(JSON_POINTER, 'must be a JSON Pointer such as /alerts/0/labels/instance')

export const TRIGGER_FIELDS = {
  name: singleLineText(100),
  description: multilineText(4000),
  /** Name of the job template. */
  template: singleLineText(200),
  limit: singleLineText(10_000),
  nodesPath: Pointer.nullable(),
  settings: RunSettings,
  variables: z
    .array(z.object({ name: singleLineText(100), path: Pointer, isRequired: z.boolean() }))
    .max(MAX_VARIABLES, `at most ${MAX_VARIABLES}`)
    .refine(
      (all) => all.every(({ name }) => variableNameError(name) === null && name !== '__proto__'),
      'must have names of Ansible variables',
    )
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have each name once'),
  signature: z.enum(TRIGGER_SIGNATURES),
  maxPerHour: z.int().min(1).max(3600),
  isEnabled: z.boolean(),
}

type Target = Pick<Trigger, 'limit' | 'settings' | 'variables'> & { template: string }

/**
 * Checks that the caller may start the template on the nodes that match now.
 * @returns the ID of the template
 * @throws InvalidInput, Forbidden, NotFound, Conflict
 */
export async function assertTriggerTarget(tx: Tx, ctx: Ctx, { template, limit, settings, variables }: Target): Promise<string> {
  const fixed = settings.extraVars ?? {}
  const twice = variables.find(({ name }) => Object.hasOwn(fixed, name))
  if (twice)
    throw new InvalidInput([{ path: 'variables', message: `${twice.name} is also a fixed variable; remove one of them` }])
  const nodes = await selectNodes(ctx, limit, tx)
  await authorizeNodes(
    tx,
    ctx,
    triggerPermissions.write,
    nodes.map(({ id }) => id),
  )
  const laterVars = variables.map(({ name }) => name)
  return (await assertLaunchable(tx, ctx, { template, limit, settings, laterVars })).id
}
