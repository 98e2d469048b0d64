import type { z } from 'zod'
import { authorizeSomewhere, type Ctx } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import type { LeanNode } from '../../nodes/tables.ts'
import { type Blocker, runsAtNodes } from '../../run-queue/index.ts'
import { selectNodes } from '../../selection/index.ts'
import { checkExtraVars } from '../../templates/index.ts'
import type { JobTemplate, Vars } from '../../templates/tables.ts'
import { type EffectiveVar, varsOfNodes } from '../../variables/index.ts'
import { jobRunPermissions } from '../permissions.ts'
import { authorizeSlurmRun } from '../slurm/insert-slurm-run.ts'
import { planSlurmRun, type SlurmRunPlan } from '../slurm/plan-slurm-run.ts'
import { assertNotEmpty, sortNodes } from './assert-runnable.ts'
import { authorizeRun } from './authorize-run.ts'
import { ansibleArguments } from './command-line.ts'
import { RunJobInput } from './run-job.ts'
import { settingsOf, templateNamed, varsOf } from './run-settings.ts'

export type PreviewHost = {
  node: LeanNode
  /** Nearest last. */
  groups: string[]
  /** The run's extra vars among them. */
  vars: EffectiveVar[]
  /** Why the run cannot use this node, as a sentence without the node's name. */
  blockedReason: string | null
  /** Why the run leaves this node out, as a sentence; `includeOffline` includes it. */
  skippedReason: string | null
}

export type RunPreview = {
  template: JobTemplate
  hosts: PreviewHost[]
  /** Its nodes are in maintenance while it runs. */
  setsMaintenance: boolean
  extraVars: Vars
  /** Names of extra vars that are secret. */
  secretVars: string[]
  /** As the worker would start it, in the run's private directory. */
  command: string[]
  /** Runs that hold or wait for some of the nodes. This run would wait for them. */
  waitsFor: Blocker[]
  /** Batches, when it drains nodes of a Slurm cluster; else null. */
  slurm: SlurmRunPlan | null
}

/**
 * Shows what a run would do without starting or storing anything. Nodes that it cannot use have their reasons here; `runJob`
 * rejects them.
 * @throws Conflict, InvalidInput, NotFound as `runJob` for input that cannot be resolved
 */
export async function previewRun(ctx: Ctx, input: z.input<typeof RunJobInput>): Promise<RunPreview> {
  authorizeSomewhere(ctx, jobRunPermissions.start)
  const given = parseInput(RunJobInput, input)
  checkExtraVars(given.extraVars ?? {})
  const template = await templateNamed(ctx, given.template)
  const { extraVars, secrets } = varsOf(template, given.extraVars ?? {})
  const settings = settingsOf(template, given, extraVars)
  const nodes = await selectNodes(ctx, given.nodeIds ?? given.limit!)
  await authorizeRun(ctx.db, ctx, template, nodes)
  assertNotEmpty(nodes, given.nodeIds ? 'nodeIds' : 'limit')
  const sorted = await sortNodes(ctx, ctx.db, nodes, { ...settings, drainsItself: Boolean(given.slurm) })
  const used = sorted.nodes
  const ids = nodes.map((node) => node.id)
  const usedIds = used.map(({ id }) => id)
  if (given.slurm) authorizeSlurmRun(ctx)
  const [vars, waitsFor, slurm] = await Promise.all([
    varsOfNodes(ctx, ids, { vars: extraVars }),
    settings.isReadOnly ? [] : runsAtNodes(ctx, usedIds),
    given.slurm && used.length > 0
      ? planSlurmRun(ctx, { id: template.id, timeoutSeconds: settings.timeoutSeconds }, used, given.slurm)
      : null,
  ])
  const skipped = new Map(sorted.skipped.map(({ node, reason }) => [node.id, reason]))
  const reasons = new Map([...sorted.blocked].flatMap(([reason, some]) => some.map((node) => [node.id, reason])))
  const files = { inventory: 'inventory.yml', extraVars: 'extra-vars.yml', playbook: settings.playbookPath }
  return {
    template,
    hosts: nodes.map((node) => ({
      node,
      groups: vars.get(node.id)?.groups ?? [],
      vars: vars.get(node.id)?.vars ?? [],
      blockedReason: reasons.get(node.id) ?? null,
      skippedReason: skipped.get(node.id) ?? null,
    })),
    setsMaintenance: settings.setsMaintenance,
    extraVars,
    secretVars: Object.keys(secrets),
    command: ['ansible-playbook', ...ansibleArguments(settings, files)],
    waitsFor,
    slurm,
  }
}

/**
 * The preview's inventory in the format of `ansible-inventory --list`. Secrets are null. Login variables are missing, because
 * only the worker resolves credentials.
 */
export function previewInventory({ hosts }: RunPreview): Vars {
  const hostvars = hosts.map(({ node, vars }) => [
    node.name,
    {
      ...Object.fromEntries(vars.filter(({ layer }) => layer !== 'run').map(({ name, value }) => [name, value])),
      ansible_connection: node.connectionType,
      ...(node.connectionType === 'ssh' ? { ansible_host: node.host, ansible_port: node.port } : {}),
    },
  ])
  const groups = new Map<string, string[]>()
  for (const { node, groups: names } of hosts)
    for (const name of names) groups.set(name, [...(groups.get(name) ?? []), node.name])
  return {
    _meta: { hostvars: Object.fromEntries(hostvars) },
    all: { hosts: hosts.map(({ node }) => node.name), children: [...groups.keys()] },
    ...Object.fromEntries([...groups].map(([name, members]) => [name, { hosts: members }])),
  }
}
