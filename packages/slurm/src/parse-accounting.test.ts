import { describe, expect, test } from 'vitest'
import { fixture, VERSIONS } from '../test/fixture.ts'
import { accountingArguments } from './accounting-queries.ts'
import {
  allocatedMemoryBytes,
  cpuEfficiency,
  parseCpuTime,
  parseJobRecords,
  SACCT_FIELDS,
  type SlurmJobRecord,
  sacctDelimiter,
} from './parse-accounting.ts'
import { FINISHED_STATES } from './parse-jobs.ts'
import { parsePriorities, parseShares } from './parse-priority.ts'

const nonce = '0123456789abcdef'
const MIB = 1024 ** 2

/** Output of sacct with records of these fields; others are those of a completed job. */
function sacct(...records: Partial<Record<(typeof SACCT_FIELDS)[number], string>>[]): string {
  const usual: Record<string, string> = {
    ...{ JobIDRaw: '1', JobID: '1', User: 'alice', Account: 'ml', Partition: 'gpu', State: 'COMPLETED', ExitCode: '0:0' },
    ...{ End: '1795462196', ElapsedRaw: '100', AllocCPUS: '4', NodeList: 'n1', NNodes: '1', AllocTRES: 'cpu=4,mem=4000M,node=1' },
  }
  return records
    .map((fields) => SACCT_FIELDS.map((name) => ({ ...usual, ...fields })[name] ?? '').join(sacctDelimiter(nonce)))
    .map((line) => `${line}${sacctDelimiter(nonce)}\n`)
    .join('')
}
const parse = (output: string) => parseJobRecords(output, nonce)

describe.each(VERSIONS)('sacct of %s', (version) => {
  const jobs = parse(fixture(version, 'sacct.txt'))
  const job = (jobId: string): SlurmJobRecord => jobs.find((one) => one.jobId === jobId)!

  test('has a record for each job, array task, component and start', () => {
    expect(jobs.map(({ jobId, id, state }) => [jobId, id, state])).toEqual([
      ['1', 1, 'COMPLETED'],
      ['2', 2, 'FAILED'],
      ['3', 3, 'FAILED'],
      ['4', 4, 'CANCELLED'],
      ['6+0', 6, 'COMPLETED'],
      ['6+1', 7, 'COMPLETED'],
      ['8', 8, 'REQUEUED'],
      ['5_0', 9, 'COMPLETED'],
      ['5_1', 10, 'FAILED'],
      ['5_2', 11, 'FAILED'],
      ['5_3', 5, 'FAILED'],
      ['8', 8, 'PENDING'],
      ['12', 12, 'RUNNING'],
      ['13', 13, 'PENDING'],
    ])
  })

  test('tolerates newlines, separators and pipes in names and comments', () => {
    expect(job('1')).toMatchObject({ name: 'a | `b`\nline\x1f ü', comment: 'c | "d"\n3|3|x', user: 'ops', account: 'ml' })
  })

  test('has steps, exit codes, signals and who canceled', () => {
    expect(job('2')).toMatchObject({
      exitCode: { code: 3, signal: 0 },
      nodes: 'gpu-01',
      cpus: 2,
      tres: { 'gres/gpu': 2, mem: 2000 },
    })
    expect(job('2').steps).toMatchObject([
      { stepId: 'batch', state: 'FAILED', exitCode: { code: 3, signal: 0 }, tasks: 1 },
      { stepId: '0', name: 'sleep', state: 'COMPLETED', tasks: 2, nodes: 'gpu-01' },
    ])
    // Both tasks together.
    const { memoryBytes, maxTaskMemoryBytes } = job('2').steps[1]!
    expect(memoryBytes! / maxTaskMemoryBytes!).toBeGreaterThan(1.8)
    expect(job('3')).toMatchObject({ exitCode: { code: 0, signal: 11 }, memoryBytes: null })
    expect(job('4')).toMatchObject({ state: 'CANCELLED', canceledBy: 0, steps: [{ exitCode: { signal: 15 } }] })
    expect(job('6+0').steps.map(({ stepId }) => stepId)).toEqual(['batch', '0'])
    expect(job('5_2')).toMatchObject({ reason: 'JobArrayTaskLimit', steps: [{ exitCode: { code: 2, signal: 0 } }] })
  })

  test('leaves unknown times and nodes empty', () => {
    expect(job('12')).toMatchObject({ endAt: null, timeLimit: 60 })
    expect(job('13')).toMatchObject({ startAt: null, endAt: null, nodes: '', cpus: 1, partition: 'gpu,batch', tres: {} })
  })

  test('has the use of a job from its steps', () => {
    const { cpuSeconds, memoryBytes, steps, endAt, startAt, elapsedSeconds } = job('2')
    expect(memoryBytes).toBe(Math.max(...steps.map((step) => step.memoryBytes!)))
    expect(cpuSeconds).toBeGreaterThan(0.01)
    expect((endAt!.getTime() - startAt!.getTime()) / 1000).toBe(elapsedSeconds)
    expect(cpuEfficiency(job('2'))).toBeCloseTo(cpuSeconds! / (2 * elapsedSeconds))
    expect(allocatedMemoryBytes(job('2'))).toBe(2000 * MIB)
  })

  test('sprio has the factors in each partition, sshare the shares', () => {
    const [gpu, batch, ...more] = parsePriorities(fixture(version, 'sprio.txt'))
    expect([gpu!.partition, batch!.partition, more]).toEqual(['gpu', 'batch', []])
    expect(gpu).toMatchObject({ id: 13, priority: 4186 })
    expect(gpu!.factors.filter(({ points }) => points !== 0)).toEqual([
      { factor: 'JOB_SIZE', resource: null, points: 251, value: 0.2508224 },
      { factor: 'PARTITION', resource: null, points: 1000, value: 1 },
      { factor: 'TRES', resource: 'cpu', points: 4, value: 0 },
      { factor: 'TRES', resource: 'mem', points: 1, value: 0 },
      { factor: 'TRES', resource: 'gres/gpu', points: 3000, value: 1 },
      { factor: 'NICE', resource: null, points: -70, value: null },
    ])
    expect(gpu!.factors.reduce((sum, { points }) => sum + points, 0)).toBe(gpu!.priority)
    expect(parseShares(fixture(version, 'sshare.txt'))).toMatchObject([
      { account: 'root', user: null, shares: null, fairShare: null },
      { account: 'root', user: 'root', shares: 1, fairShare: 1, levelFairShare: null },
      { account: 'ml', user: null, shares: 3, normalizedShares: 0.75, fairShare: null, levelFairShare: 0 },
      { account: 'ml', user: 'ops', shares: 5, normalizedShares: 1, usage: 0, effectiveUsage: 0, fairShare: 0 },
    ])
  })
})

test('reads all states, and limits without a number', () => {
  const words = [...FINISHED_STATES, 'REVOKED', 'RESIZING', 'CANCELLED by 1000', 'CANCELLED+', 'out_of_me+']
  const jobs = parse(sacct(...words.map((State) => ({ State, TimelimitRaw: 'UNLIMITED' }))))
  expect(jobs.map(({ state }) => state)).toEqual([
    ...FINISHED_STATES,
    'REVOKED',
    'RESIZING',
    'CANCELLED',
    'CANCELLED',
    'OUT_OF_ME',
  ])
  expect(jobs.at(-3)).toMatchObject({ canceledBy: 1000, timeLimit: 'UNLIMITED' })
  expect(parse(sacct({ TimelimitRaw: 'Partition_Limit' }))[0]!.timeLimit).toBeNull()
})

test('reads amounts of memory and of CPU time in all forms', () => {
  const use = (fields: object) => parse(sacct({}, { JobIDRaw: '1.0', JobID: '1.0', ...fields }))[0]!.memoryBytes
  expect(use({ MaxRSS: '92160K' })).toBe(90 * MIB)
  expect(use({ MaxRSS: '1.50G' })).toBe(1536 * MIB)
  expect(use({ MaxRSS: '10', TRESUsageInTot: 'cpu=00:00:01,mem=94371840,vmem=1K' })).toBe(90 * MIB)
  expect(use({ TRESUsageInTot: 'vmem=5K' })).toBeNull()
  expect(['00:00.330', '01:02', '03:00:00', '2-03:00:01', '', 'INVALID'].map(parseCpuTime)).toEqual([
    ...[0.33, 62, 10_800, 183_601, null, null],
  ])
})

test('does not report unmeasured use as zero', () => {
  const unmeasured = parse(sacct({ TotalCPU: '00:00:00' }, { JobIDRaw: '1.batch', JobID: '1.batch', TotalCPU: '00:00:00' }))[0]!
  expect([unmeasured.cpuSeconds, unmeasured.steps[0]!.cpuSeconds, cpuEfficiency(unmeasured)]).toEqual([null, null, null])
  const measured = parse(sacct({ TotalCPU: '03:20' }))[0]!
  expect(cpuEfficiency(measured)).toBe(0.5)
})

test.each([
  ['a record that was cut off', sacct({}).slice(0, -40), 'too few fields'],
  ['an error', 'sacct: error: Problem talking to the database\n', 'too few fields'],
  ['a step of no job', sacct({ JobIDRaw: '7.0', JobID: '7.0' }), 'follows another job'],
  ['a record without a state', sacct({ State: '' }), 'no state'],
  ['a record without an ID', sacct({ JobIDRaw: 'x' }), 'no job ID'],
])('refuses %s', (_, output, message) => {
  expect(() => parse(output)).toThrow(message)
})

describe('arguments', () => {
  const filter = { users: [], accounts: [], partitions: [], states: [], hostlist: null }
  const search = { query: 'finished', sinceSeconds: 1_795_000_000, untilSeconds: 1_795_003_600, filter } as const

  test('select finished jobs of all users, or by filters', () => {
    const all = accountingArguments(search, nonce)
    expect(all).toEqual(expect.arrayContaining(['--allusers', '--starttime=uts1795000000', '--endtime=uts1795003600']))
    expect(all).toContain(`--state=${FINISHED_STATES.join(',')}`)
    const some = {
      users: ['bob', 'a.b@c', 'DOM\\alice'],
      accounts: ['ml'],
      partitions: ['gpu'],
      states: ['FAILED'],
      hostlist: 'n[1-2]',
    }
    const words = accountingArguments({ ...search, filter: some }, nonce)
    expect(words).toEqual(
      expect.arrayContaining(['--user=bob,a.b@c,DOM\\alice', '--accounts=ml', '--partition=gpu', '--state=FAILED']),
    )
    expect(words).toContain('--nodelist=n[1-2]')
    expect(words).not.toContain('--allusers')
  })

  test.each(['', 'a,b', 'a b', "a'b", 'a\nb', 'a|b', 'a\\', '\\a', 'a\\b\\c', 'a\\\\b'])('reject the name %j', (user) => {
    expect(() => accountingArguments({ ...search, filter: { ...filter, users: [user] } }, nonce)).toThrow(TypeError)
  })

  test('reject a backslash in accounts and partitions, which would end a quotation in the SQL of slurmdbd', () => {
    for (const names of [{ accounts: ['a\\'] }, { accounts: ['DOM\\ml'] }, { partitions: ['a\\b'] }])
      expect(() => accountingArguments({ ...search, filter: { ...filter, ...names } }, nonce)).toThrow(TypeError)
    expect(() => accountingArguments({ query: 'shares', user: 'DOM\\alice', account: 'a\\' }, nonce)).toThrow(TypeError)
    expect(accountingArguments({ query: 'shares', user: 'DOM\\alice', account: 'ml' }, nonce)).toContain('--users=DOM\\alice')
  })

  test.each(['', '1,2', '3_[1-2]', '--help', '1 2'])('reject the job ID %j', (jobId) => {
    expect(() => accountingArguments({ query: 'job', jobId }, nonce)).toThrow(TypeError)
    expect(() => accountingArguments({ query: 'priority', jobId }, nonce)).toThrow(TypeError)
  })

  test('ask sprio for one job', () => {
    expect(accountingArguments({ query: 'priority', jobId: '17' }, nonce)).toContain('--jobs=17')
  })
})

test('reads no priorities and shares from clusters without them', () => {
  expect(parsePriorities('Unable to find jobs matching user/id(s) specified\n')).toEqual([])
  expect(parseShares('')).toEqual([])
  expect(parseShares('parent|0.000000|5|0.1|0.5||bob|  we|rd\n')).toMatchObject([
    { shares: 'PARENT', account: 'we|rd', user: 'bob' },
  ])
})
