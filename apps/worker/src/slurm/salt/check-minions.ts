import type { SlurmNodeCheck } from '@muster/core/slurm-operations'
import { compareSlurmVersion } from '../operations/readiness/compare-version.ts'
import type { SaltClient, SaltKeys, SaltReturns } from './salt-client.ts'

/** Packages with slurmd: of Debian, of SchedMD's packages for Debian, and of the RHEL family. */
const PACKAGES = ['slurmd', 'slurm-smd-slurmd', 'slurm-slurmd']

/** `minionId`: null without an accepted key. */
type KeyCheck = { minionId: string | null; checks: [SlurmNodeCheck, ...SlurmNodeCheck[]] }

/** Minion IDs of a node, accepted ones first: its name, alone or as the first part of a DNS name. */
function minionIdsOf(name: string, keys: SaltKeys): string[] {
  const ids = [...keys.accepted, ...keys.pending, ...keys.rejected, ...keys.denied]
  return [...new Set(ids)].filter((id) => id.toLowerCase().split('.')[0] === name.toLowerCase())
}

/**
 * Checks the minions of nodes: their key, connection, version and Slurm package.
 * @param release of the cluster; null before it exists
 * @throws Conflict, Unavailable the salt-api cannot be used
 */
export async function checkMinions(
  salt: SaltClient,
  names: string[],
  release: string | null,
): Promise<Map<string, SlurmNodeCheck[]>> {
  const keys = await salt.listKeys()
  const found = new Map(names.map((name) => [name, checkKey(name, keys)]))
  const ids = [...found.values()].flatMap(({ minionId }) => minionId ?? [])
  const returns = await salt.call(ids, [{ name: 'test.ping' }, { name: 'test.version' }, { name: 'pkg.version', args: PACKAGES }])
  for (const { minionId, checks } of found.values())
    if (minionId !== null) checks.push(...checkReturns(minionId, returns.get(minionId) ?? null, release))
  return new Map([...found].map(([name, { checks }]) => [name, checks]))
}

/** The minion of a node. */
export function checkKey(name: string, keys: SaltKeys): KeyCheck {
  const failed = (message: string): KeyCheck => ({
    minionId: null,
    checks: [{ name: 'salt-key', state: 'FAILED', message }],
  })
  const ids = minionIdsOf(name, keys)
  const [id] = ids
  if (id === undefined)
    return failed(
      `the master knows no minion ${name} or ${name}.DOMAIN; start salt-minion, or set its id to the name of the node`,
    )
  if (ids.length > 1)
    return failed(`the master knows several minions of this name: ${ids.slice(0, 5).join(', ')}; delete the keys of the others`)
  if (keys.pending.includes(id)) return failed(`the key of ${id} is not accepted; accept it with \`salt-key -a ${id}\``)
  if (keys.rejected.includes(id))
    return failed(`the key of ${id} is rejected; accept it with \`salt-key --include-rejected -a ${id}\``)
  if (!keys.accepted.includes(id))
    return failed(`the key of ${id} is denied, because another minion has this ID; delete one of the keys`)
  return { minionId: id, checks: [{ name: 'salt-key', state: 'OK', message: `${id} is accepted` }] }
}

function checkReturns(id: string, returns: SaltReturns, release: string | null): SlurmNodeCheck[] {
  if (returns?.['test.ping'] !== true)
    return [
      { name: 'salt-minion', state: 'FAILED', message: `${id} does not return; start salt-minion, and check its connection` },
    ]
  const version = returns['test.version']
  const checks: SlurmNodeCheck[] = [
    {
      name: 'salt-minion',
      state: typeof version === 'string' ? 'OK' : 'WARNING',
      message: typeof version === 'string' ? `${id} is connected, version ${version}` : `${id} returns no version`,
    },
  ]
  const packages = returns['pkg.version']
  if (typeof packages !== 'object' || packages === null)
    return [...checks, { name: 'slurm-package', state: 'WARNING', message: `${id} cannot list packages` }]
  const installed = Object.entries(packages).filter(([, text]) => typeof text === 'string' && text !== '')
  if (installed.length === 0) return [...checks, { name: 'slurm-package', state: 'OK', message: 'not installed' }]
  for (const [name, text] of installed)
    checks.push({ name: 'slurm-package', ...compareSlurmVersion(`${name} ${text}`, text as string, release) })
  return checks
}
