import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { CLIENTS, createClientCheck } from '../../test/client-check.ts'
import { checkConfig } from './check/index.ts'
import { NODE_KEYS, PARTITION_KEYS, SLURM_CONF_KEYS } from './keys.ts'

const BASE = `ClusterName=lab
SlurmctldHost=ctl
SlurmUser=root
GresTypes=gpu
`

/** Whether our check and Slurm's own one agree. */
function compare(client: ReturnType<typeof createClientCheck>, release: string, text: string): void {
  const errors = checkConfig({ 'slurm.conf': text }, release).filter(({ severity }) => severity === 'ERROR')
  const refusal = client.check(text)
  expect({ text, refused: refusal !== null, refusal, errors }).toMatchObject({ refused: errors.length > 0 })
}

/** Keys whose values only one program, or the host, can check. */
const OTHER_CHECKS =
  /^(Gres|State|Nodes|PreemptMode|AccountingStorageEnforce|AccountingStorageType|AuthType|ClusterName|CredType|CryptoType|DebugFlags|GresTypes|JobContainerType|MCSParameters|PluginDir|PrologFlags|PropagateResourceLimits|PropagateResourceLimitsExcept|SelectTypeParameters|SlurmdUser|TaskPluginParam|BcastExclude|FrontendName|HashPlugin|TLSType|CertgenType|NamespaceType|ExtSensorsFreq)$/

/** What a message says about a line. */
const kindOf = (message: string | null | undefined): string =>
  /unrecognized key|has been removed|^The key/.test(message ?? '')
    ? 'unknown key'
    : /is not a valid number|must be a number/.test(message ?? '')
      ? 'no number'
      : /not a valid option|must be YES or NO/.test(message ?? '')
        ? 'no boolean'
        : message
          ? 'other'
          : 'accepted'

describe.each(CLIENTS)('Slurm $release', ({ release, program }) => {
  const client = createClientCheck(program)
  afterAll(() => client.close())

  test.each([
    ['a minimal file', ''],
    ['nodes and partitions', 'NodeName=a[1-3] CPUs=2\nPartitionName=p Nodes=a[1-3]'],
    ['an unknown key', 'NoSuchKey=1'],
    ['keys in any case', 'slurmctldPORT=7000\nnodename=a cpus=1'],
    ['an unknown key of a node', 'NodeName=a Cpuz=1'],
    ['two keys in a line', 'ReturnToService=1 KillWait=5'],
    ['a comment in a line', 'ReturnToService=1 # KillWait'],
    ['a word', 'ReturnToService'],
    ['a continued line', 'NodeName=a \\\n  CPUs=2\nPartitionName=p Nodes=a'],
    ['a comment in a continued line', 'NodeName=a CPUs=2 \\ # first\n  RealMemory=10'],
    ['a comment that ends with a backslash', '# comment \\\nReturnToService=1'],
    ['an escaped hash', 'NodeName=a Reason=no\\#1'],
    ['quotes', 'NodeName=a Reason="two words"'],
    ['open quotes', 'NodeName=a Reason="two words'],
    ['a blank around the equals sign', 'ReturnToService = 1'],
    ['an operator', 'ReturnToService+=1'],
    ['a number that is none', 'KillWait=soon'],
    ['a large number', 'KillWait=65536'],
    ['a negative number', 'KillWait=-1'],
    ['infinity', 'KillWait=UNLIMITED'],
    ['a hexadecimal number', 'KillWait=0x10'],
    ['an octal number', 'KillWait=010'],
    ['a wrong octal number', 'KillWait=09'],
    ['a suffix', 'NodeName=a RealMemory=10k'],
    ['a wrong suffix', 'NodeName=a RealMemory=10G'],
    ['a boolean', 'DisableRootJobs=YES'],
    ['a wrong boolean', 'DisableRootJobs=maybe'],
    ['ALL as a node', 'NodeName=ALL CPUs=1'],
    ['an address of all nodes', 'NodeName=DEFAULT NodeAddr=a'],
    ['defaults', 'NodeName=DEFAULT CPUs=2\nNodeName=a'],
    ['a time limit', 'PartitionName=p MaxTime=7-00:00:00'],
    ['no time limit', 'PartitionName=p MaxTime=INFINITE DefaultTime=-1'],
    ['a wrong time limit', 'PartitionName=p MaxTime=1h'],
    ['a wrong state', 'PartitionName=p State=ON'],
    ['a state', 'PartitionName=p State=drain'],
    ['sharing', 'PartitionName=p OverSubscribe=FORCE:2'],
    ['wrong sharing', 'PartitionName=p OverSubscribe=MAYBE'],
    ['preemption', 'PreemptType=preempt/qos\nPreemptMode=REQUEUE'],
    ['preemption without a type', 'PreemptMode=REQUEUE'],
    ['preemption without a mode', 'PreemptType=preempt/partition_prio'],
    ['a wrong mode of preemption', 'PreemptMode=NEVER'],
    ['two modes of preemption', 'PreemptMode=CANCEL,REQUEUE'],
    ['a log level', 'SlurmctldDebug=debug3'],
    ['a wrong log level', 'SlurmctldDebug=loud'],
    ['ports', 'SlurmctldPort=6820-6824'],
    ['ports that run backwards', 'SlurmctldPort=6824-6820'],
    ['two controllers', 'SlurmctldHost=other(10.0.0.2)'],
    ['the same controller twice', 'SlurmctldHost=ctl'],
    ['a wrong address of a controller', 'SlurmctldHost=other(10.0.0.2'],
    ['no jobs', 'MaxJobCount=0'],
    ['a wrong period', 'PriorityUsageResetPeriod=often'],
    ['a wrong time of decay', 'PriorityDecayHalfLife=1h'],
  ])('agrees about %s', (_, lines) => {
    compare(client, release, `${BASE}${lines}\n`)
  })

  test('agrees about files without a name or a controller', () => {
    compare(client, release, 'SlurmctldHost=ctl\nSlurmUser=root\n')
    compare(client, release, 'ClusterName=lab\nSlurmUser=root\n')
  })

  test('knows the same keys, and the same types of values', () => {
    const differences: unknown[] = []
    for (const [table, prefix] of [
      [NODE_KEYS, 'NodeName=a '],
      [PARTITION_KEYS, 'PartitionName=p '],
      [SLURM_CONF_KEYS, ''],
    ] as const)
      for (const { key } of [...table.values()].flat()) {
        const text = `${BASE}${prefix}${key}=soon\n`
        const ours = kindOf(checkConfig({ 'slurm.conf': text }, release)[0]?.message)
        const theirs = kindOf(client.check(text))
        if (ours !== theirs && !OTHER_CHECKS.test(key)) differences.push({ key, ours, theirs })
      }
    expect(differences).toEqual([])
  })

  test('agrees about random lines', () => {
    const space = fc.constantFrom(' ', '  ', '\t', ' \\\n ', '')
    const word = fc.constantFrom(
      'a',
      'NodeName',
      'KillWait',
      '=',
      '"',
      '#',
      '\\',
      '\\#',
      '1',
      'CPUs=1',
      'Reason="x y"',
      'Weight=2',
      '+',
      '\n',
    )
    const line = fc.array(fc.tuple(word, space), { maxLength: 8 }).map((parts) => parts.flat().join(''))
    const isAboutForm = (text: string) => !/^\s*NodeName\s*[-*+/]?=\s*(?!a\b)/im.test(text)
    fc.assert(
      fc.property(line.filter(isAboutForm), (text) => compare(client, release, `${BASE}${text}\n`)),
      { numRuns: 100 },
    )
  })
})

test('has Slurm to compare with', () => {
  expect(CLIENTS.length).toBeGreaterThan(process.platform === 'linux' && process.getuid?.() === 0 ? 0 : -1)
})
