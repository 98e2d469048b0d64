import { describe, expect, test } from 'vitest'
import { fixture, VERSIONS } from '../test/fixture.ts'
import { createJobParser, hasEnded, parseJobs, SEPARATOR, SQUEUE_FIELDS } from './parse-jobs.ts'

const nonce = 'a25c1f00b1946ac6aa3ee3a1e2f0d4b7'

describe.each(VERSIONS)('Slurm %s', (version) => {
  const jobs = parseJobs(fixture(version, 'squeue.json'), { nonce })
  const named = (name: string) => jobs.filter((job) => job.name === name)

  test('reads a running job with quotes, pipes and other alphabets in its texts', () => {
    expect(jobs.find(({ id }) => id === 2)).toMatchObject({
      name: 'train | llm "7B" é',
      comment: `it's a "test" | ünï`,
      user: 'alice',
      account: 'ml',
      partition: 'gpu',
      states: ['RUNNING'],
      reason: null,
      timeLimit: 120,
      nodes: 'gpu01',
      cpus: 8,
      gres: [{ name: 'gpu', type: 'h100', count: 4, indexes: null }],
      exitCode: null,
    })
  })

  test('reads tasks of an array and its pending part', () => {
    const sweep = named('sweep')
    expect(sweep.every(({ arrayJobId }) => arrayJobId === 3)).toBe(true)
    expect(sweep.map(({ arrayTaskId }) => arrayTaskId).sort()).toEqual([0, 1, null])
    expect(sweep.find(({ arrayTaskId }) => arrayTaskId === null)).toMatchObject({
      arrayTasks: '2-9%2',
      states: ['PENDING'],
      reason: 'JobArrayTaskLimit',
    })
  })

  test('reads components of a heterogeneous job', () => {
    const components = named('het').map(({ hetJobId, hetJobOffset }) => ({ hetJobId, hetJobOffset }))
    expect(components).toContainEqual({ hetJobId: 12, hetJobOffset: 0 })
    expect(components).toContainEqual({ hetJobId: 12, hetJobOffset: 1 })
    expect(named('inresv')[0]).toMatchObject({ arrayJobId: null, arrayTaskId: null, hetJobId: null, hetJobOffset: null })
  })

  test('reads reasons, dependencies and reservations', () => {
    expect(named('dep')[0]).toMatchObject({ reason: 'Dependency', dependency: 'afterok:2(unfulfilled)' })
    expect(named('adminhold')[0]).toMatchObject({ reason: 'JobHeldAdmin', priority: 0 })
    expect(named('inresv')[0]).toMatchObject({ reservation: 'course' })
    expect(named('rqhold')[0]).toMatchObject({ reasonDetail: 'job requeued in held state' })
    expect(named('ondrained')[0]!.reasonDetail).toMatch(/^ReqNodeNotAvail, /)
  })

  test('gives a job without a time limit no end', () => {
    expect(named('inresv')[0]).toMatchObject({ timeLimit: 'UNLIMITED', endAt: null })
    expect(jobs.find(({ id }) => id === 2)!.endAt).not.toBeNull()
  })
})

test.each(['22.05', '23.11'] as const)('reads how jobs of Slurm %s ended', (version) => {
  const ended = parseJobs(fixture(version, 'squeue.json'), { nonce }).filter(hasEnded)
  const exit = (name: string) => ended.find((job) => job.name === name)?.exitCode
  expect(exit('ok')).toEqual({ code: 0, signal: 0 })
  expect(exit('failed')).toEqual({ code: 3, signal: 0 })
  expect(exit('sigsegv')).toEqual({ code: 0, signal: 11 })
})

describe('squeue with a format', () => {
  const IDS = { jobid: '15', arrayjobid: '3', arraytaskid: '1', jobarrayid: '3_1', username: 'alice', partition: 'gpu' }
  const TIMES = { submittime: '1795333728', starttime: '1795333731', endtime: '1795337331', timelimit: '1:00:00' }
  const STATE = { qos: 'normal', state: 'RUNNING', prioritylong: '1008', nodelist: 'gpu03', numnodes: '1', numcpus: '2' }
  const REQUESTS = { numtasks: '1', 'tres-per-job': 'N/A', 'tres-per-node': 'gres:gpu:h100:1', 'tres-per-task': 'N/A' }
  const REST = { 'tres-alloc': 'cpu=2,mem=4G,node=1,billing=2', licenses: '(null)', exit_code: '0', reservation: '(null)' }
  const TEXTS = { dependency: '(null)', reason: 'None', reasonlist: 'gpu03', account: 'ml', workdir: '/home/alice' }
  type Values = Partial<Record<(typeof SQUEUE_FIELDS)[number], string>>
  const line = (changes: Values = {}) => {
    const values: Values = {
      ...IDS,
      ...TIMES,
      ...STATE,
      ...REQUESTS,
      ...REST,
      ...TEXTS,
      comment: '(null)',
      name: 'sweep',
      ...changes,
    }
    return `${SQUEUE_FIELDS.map((field) => values[field] + SEPARATOR).join('')}${nonce}\n`
  }

  test('reads a task of an array', () => {
    expect(parseJobs(line(), { nonce })).toEqual([
      {
        id: 15,
        arrayJobId: 3,
        arrayTaskId: 1,
        arrayTasks: null,
        hetJobId: null,
        hetJobOffset: null,
        name: 'sweep',
        user: 'alice',
        account: 'ml',
        partition: 'gpu',
        qos: 'normal',
        states: ['RUNNING'],
        reason: null,
        reasonDetail: null,
        priority: 1008,
        submittedAt: new Date(1795333728e3),
        startAt: new Date(1795333731e3),
        endAt: new Date(1795337331e3),
        timeLimit: 60,
        nodes: 'gpu03',
        nodeCount: 1,
        cpus: 2,
        gres: [{ name: 'gpu', type: 'h100', count: 1, indexes: null }],
        tres: { cpu: 2, mem: 4096, node: 1, billing: 2 },
        licenses: null,
        dependency: null,
        reservation: null,
        comment: null,
        workingDirectory: '/home/alice',
        exitCode: null,
      },
    ])
  })

  test('reads the pending part of an array, and a component of a heterogeneous job', () => {
    const pending = {
      jobid: '3',
      arraytaskid: '2-9%2',
      state: 'PENDING',
      nodelist: '',
      reason: 'JobArrayTaskLimit',
      reasonlist: '(JobArrayTaskLimit)',
    }
    expect(parseJobs(line(pending), { nonce })[0]).toMatchObject({
      arrayJobId: 3,
      arrayTaskId: null,
      arrayTasks: '2-9%2',
      nodes: '',
    })
    expect(parseJobs(line({ arraytaskid: 'N/A', jobarrayid: '12+1' }), { nonce })[0]).toMatchObject({
      arrayJobId: null,
      hetJobId: 12,
      hetJobOffset: 1,
    })
  })

  test('keeps a separator in the name of a job out of other fields', () => {
    const name = `evil${SEPARATOR}root${SEPARATOR}RUNNING`
    expect(parseJobs(line({ name: name }), { nonce })[0]).toMatchObject({ name, user: 'alice', states: ['RUNNING'] })
  })

  test('keeps newlines and forged records in the texts of a job', () => {
    const forged = line({ jobid: '99', username: 'root' }).slice(0, -nonce.length - 1)
    const texts = { comment: 'two\nlines', name: `a\n${forged}` }
    expect(parseJobs(line(texts) + line({ jobid: '16' }), { nonce })).toMatchObject([
      { id: 15, comment: 'two\nlines', name: `a\n${forged}` },
      { id: 16, name: 'sweep' },
    ])
  })

  test('reads the base state of a job with a flag', () => {
    const states = (word: string) => parseJobs(line({ state: word }), { nonce })[0]!.states
    expect(states('CONFIGURING')).toEqual(['RUNNING', 'CONFIGURING'])
    expect(states('REQUEUE_HOLD')).toEqual(['PENDING', 'REQUEUE_HOLD'])
    expect(states('COMPLETING')).toEqual(['COMPLETING'])
  })

  test('keeps the jobs of the last output only, and reads changed ones again', () => {
    const parse = createJobParser()
    const other = 'b'.repeat(32)
    const [first, second] = parse(line({ jobid: '1' }) + line({ jobid: '2' }), nonce)
    const again = parse((line({ jobid: '2', prioritylong: '7' }) + line({ jobid: '1' })).replaceAll(nonce, other), other)
    expect(again).toMatchObject([{ id: 2, priority: 7 }, { id: 1 }])
    expect(again[0]).not.toBe(second)
    expect(again[1]).toBe(first)
    expect(parse('', nonce)).toEqual([])
    expect(parse(line({ jobid: '1' }), nonce)[0]).not.toBe(first)
  })

  test('reads an empty queue', () => {
    expect(parseJobs('', { nonce })).toEqual([])
  })

  test('refuses a record that was cut off', () => {
    expect(() => parseJobs(line().slice(0, 60), { nonce })).toThrow('cut off')
    expect(() => parseJobs(line() + line().slice(0, -nonce.length), { nonce })).toThrow('cut off')
    expect(() => parseJobs(line().slice(60), { nonce })).toThrow('fields')
  })

  test('skips lines of a wrapper before the first record', () => {
    expect(parseJobs(`squeue of site X\n${line()}${line({ jobid: '16' })}`, { nonce })).toMatchObject([{ id: 15 }, { id: 16 }])
  })

  // As 22.05 and 25.11 printed them for these options of sbatch.
  test.each<[option: string, Values, [type: string | null, count: number][]]>([
    ['--gpus=4', { 'tres-per-job': 'gres:gpu:4' }, [[null, 4]]],
    ['--gpus=h100:2', { 'tres-per-job': 'gres/gpu:h100:2' }, [['h100', 2]]],
    ['--gpus-per-node=h100:2', { 'tres-per-node': 'gres:gpu:h100:2', numnodes: '3' }, [['h100', 6]]],
    ['--gpus-per-task=1', { 'tres-per-task': 'gres:gpu:1', numtasks: '3' }, [[null, 3]]],
    ['--gpus-per-task=1, from 23.11', { 'tres-per-task': 'cpu=2,gres/gpu=1', numtasks: '3' }, [[null, 3]]],
    ['--gpus-per-socket=1, tracked', { 'tres-alloc': 'cpu=2,gres/gpu=2' }, [[null, 2]]],
    ['--gpus=h100:2, total tracked', { 'tres-per-job': 'gres:gpu:h100:2', 'tres-alloc': 'gres/gpu=2' }, [['h100', 2]]],
    ['--gpus=2, total and type tracked', { 'tres-alloc': 'gres/gpu=2,gres/gpu:h100=2' }, [['h100', 2]]],
    ['two types, one tracked', { 'tres-alloc': 'gres/gpu=3,gres/gpu:h100=1' }, [[null, 3]]],
    ['--exclusive', { 'tres-per-node': 'gres:gpu:1', 'tres-alloc': 'gres/gpu=8' }, [[null, 8]]],
    ['--gpus=4 --gpus-per-node=2', { 'tres-per-job': 'gres:gpu:4', 'tres-per-node': 'gres:gpu:2', numnodes: '2' }, [[null, 4]]],
    ['none', {}, []],
  ])('reads the GPUs of the whole job with %s', (_, values, expected) => {
    const [job] = parseJobs(line({ 'tres-per-node': 'N/A', ...values }), { nonce })
    expect(job!.gres).toEqual(expected.map(([type, count]) => ({ name: 'gpu', type, count, indexes: null })))
  })

  test('reads licenses', () => {
    expect(parseJobs(line({ licenses: 'matlab:2,ansys@server:1' }), { nonce })[0]!.licenses).toBe('matlab:2,ansys@server:1')
  })

  test.each([
    ['768', { code: 3, signal: 0 }],
    ['11', { code: 0, signal: 11 }],
    ['3:0', { code: 3, signal: 0 }],
    ['0:11', { code: 0, signal: 11 }],
    ['', null],
  ])('reads the exit code %s of a finished job', (exit_code, exitCode) => {
    expect(parseJobs(line({ state: 'FAILED', exit_code }), { nonce })[0]).toMatchObject({ exitCode })
    expect(parseJobs(line({ exit_code }), { nonce })[0]).toMatchObject({ exitCode: null })
  })
})
