import { type SlurmCluster, slurmOperationMessages } from '@muster/core/clusters'
import type { SlurmNodeCheck } from '@muster/core/slurm-operations'
import { type ConfigNode, controllerNames, parseConfig, readSetting } from '@muster/slurm/config'
import pLimit from 'p-limit'
import { checkMinions } from '../../salt/check-minions.ts'
import { readClusterNodes } from '../cluster-state.ts'
import { type CheckContext, type OperationContext, OperationFailure } from '../operation.ts'
import { rolledOut } from '../rollout.ts'
import { assertNoTopologyYaml } from '../topology-yaml.ts'
import { compareHardware } from './compare-hardware.ts'
import { evaluateReadiness } from './evaluate.ts'
import { hardwareScript, readinessScript } from './script.ts'

const TIMEOUT_MS = 60_000
const MAX_BYTES = 256 * 1024
const AT_ONCE = 16

type Node = ConfigNode & { nodeId: string }
export type CheckTarget = { controllers: { name: string; address: string }[]; release: string | null }

/** The controllers that nodes must reach, as slurm.conf names them. */
export async function controllersOf(op: CheckContext): Promise<CheckTarget['controllers']> {
  const { files } = await rolledOut(op)
  return controllerNames(parseConfig(files['slurm.conf']))
}

/**
 * What nodes must fit to join the cluster.
 * @throws OperationFailure the cluster cannot get nodes; QueryFailure the controller does not answer
 */
export async function checkTarget(op: CheckContext & { cluster: Pick<SlurmCluster, 'settings'> }): Promise<CheckTarget> {
  const release = (await readClusterNodes(op)).version
  await assertNoTopologyYaml(op, release)
  return { controllers: await controllersOf(op), release }
}

/**
 * Checks all nodes over SSH, and their minions where the cluster uses Salt.
 * @param onChecked gets the findings of each node when it was checked
 * @returns the findings by name; a node that cannot be asked over SSH has one about that
 * @throws DomainError the salt-api cannot be used
 */
export async function checkNodes(
  op: CheckContext,
  nodes: Node[],
  cluster: CheckTarget,
  onChecked: (name: string, checks: SlurmNodeCheck[]) => void = () => {},
): Promise<Map<string, SlurmNodeCheck[]>> {
  const found = new Map<string, SlurmNodeCheck[]>()
  const resolved = cluster.controllers.length > 0 ? await resolvedNames(op, nodes) : null
  const salt = await op.salt()
  const names = nodes.map(({ name }) => name)
  const minions = salt && (await checkMinions(salt, names, cluster.release))
  const open = [...nodes]
  const work = async () => {
    for (let node = open.shift(); node; node = open.shift()) {
      const checks = await checkNode(op, node, cluster, resolved)
      checks.push(...(minions?.get(node.name) ?? []))
      found.set(node.name, checks)
      onChecked(node.name, checks)
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, nodes.length) }, work))
  return found
}

async function checkNode(
  op: CheckContext,
  node: Node,
  { controllers, release }: CheckTarget,
  resolved: ReadonlySet<string> | null,
): Promise<SlurmNodeCheck[]> {
  const files = [...new Set(node.gres.flatMap((gres) => gres.files))]
  const { prefix = null, repositoryUrl = null } = op.cluster.install ?? {}
  const usesNodeRepositories = prefix === null && repositoryUrl === null && !op.cluster.saltInstalls
  const request = { controllers, files, prefix, usesNodeRepositories }
  try {
    return await op.onNode(node.nodeId, async ({ session }) => {
      const options = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal: op.signal }
      const ran = await session.exec('sh -s', { stdin: readinessScript(request), ...options })
      return evaluateReadiness(ran.stdout.toString('utf8'), {
        ...request,
        config: node,
        release,
        isResolvedByController: resolved?.has(node.name) ?? null,
        now: Date.now() / 1000,
      })
    })
  } catch (error) {
    op.signal.throwIfAborted()
    if (!(error instanceof OperationFailure)) throw error
    return [{ name: 'reachable', state: 'FAILED', message: error.message }]
  }
}

/** The names that the controller resolves. */
async function resolvedNames(op: CheckContext, nodes: Node[]): Promise<Set<string>> {
  const names = nodes.map(({ name }) => name)
  const output = await op.slurm(async ({ session, signal }) => {
    const script = names.map((name) => `getent hosts '${name}' >/dev/null && echo '${name}'\n`).join('')
    const ran = await session.exec('sh -s', { stdin: script, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal })
    return ran.stdout.toString('utf8')
  })
  return new Set(output.split('\n').filter((line) => names.includes(line)))
}

/** Checks nodes, and marks those that cannot join as failed. @throws OperationFailure no node can */
export async function checkReadiness(op: OperationContext, nodes: Node[], cluster: CheckTarget): Promise<void> {
  const found = await checkNodes(op, nodes, cluster)
  await op.updateNodes(
    nodes.map(({ name }) => {
      const checks = found.get(name)!
      const failed = checks.filter(({ state }) => state === 'FAILED')
      const message = failed.map(({ name, message }) => `${name}: ${message}`).join('. ')
      return { name, phase: 'CHECKED', checks, isFailed: failed.length > 0, message: message || null }
    }),
  )
  assertSomeLeft(op)
}

/**
 * Compares the hardware of nodes on which Slurm was installed with what slurm.conf will say, and marks those that have less as failed:
 * their registration would be invalid. With config_overrides it is a warning.
 * @param slurmConf text that has the SlurmdParameters of the cluster
 * @throws OperationFailure no node is left
 */
export async function checkHardware(op: OperationContext, nodes: readonly Node[], slurmConf: string): Promise<void> {
  const parameters = readSetting(parseConfig(slurmConf), 'SlurmdParameters') ?? ''
  const shortage = /\bconfig_overrides\b/i.test(parameters) ? 'WARNING' : 'FAILED'
  const open = nodes.filter(({ name }) => op.nodes.some((node) => node.name === name && !node.isFailed))
  const checked = await pLimit(AT_ONCE).map(open, async (node) => ({
    name: node.name,
    check: await hardwareOf(op, node, shortage),
  }))
  await op.updateNodes(
    checked.map(({ name, check }) => {
      const others = op.nodes.find((node) => node.name === name)!.checks.filter((one) => one.name !== check.name)
      const checks = [...others, check]
      return check.state === 'FAILED'
        ? { name, checks, isFailed: true, message: `${check.name}: ${check.message}` }
        : { name, checks }
    }),
  )
  assertSomeLeft(op)
}

async function hardwareOf(op: OperationContext, node: Node, shortage: SlurmNodeCheck['state']): Promise<SlurmNodeCheck> {
  const stdin = hardwareScript(op.cluster.install?.prefix ?? null)
  try {
    const line = await op.onNode(node.nodeId, async ({ session, signal }) => {
      const ran = await session.exec('sh -s', { stdin, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal })
      return ran.stdout.toString('utf8')
    })
    return compareHardware(line, node, shortage)
  } catch (error) {
    op.signal.throwIfAborted()
    if (!(error instanceof OperationFailure)) throw error
    return { name: 'hardware', state: 'FAILED', message: error.message }
  }
}

/** @throws OperationFailure every node failed */
export function assertSomeLeft({ nodes }: Pick<OperationContext, 'nodes'>): void {
  if (nodes.every(({ isFailed }) => isFailed))
    throw new OperationFailure(
      slurmOperationMessages.noNodeLeft({ reason: nodes[0] ? `${nodes[0].name}: ${nodes[0].message}` : '' }),
    )
}
