import { describe, expect, test } from 'vitest'
import { fixture, VERSIONS } from '../test/fixture.ts'
import { createJobParser, hasEnded, parseJobs, SEPARATOR, SQUEUE_FORMAT } from './parse-jobs.ts'

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
  const FIELDS = { '%A': '15', '%F': '3', '%K': '1', '%i': '3_1', '%u': 'alice', '%a': 'ml', '%P': 'gpu', '%q': 'normal' }
  const MORE = { '%T': 'RUNNING', '%Q': '1008', '%V': '1795333728', '%S': '1795333731', '%e': '1795337331', '%l': '1:00:00' }
  const REST = { '%N': 'gpu03', '%D': '1', '%C': '2', '%b': 'gres:gpu:h100:1', '%v': '(null)', '%E': '(null)', '%r': 'None' }
  const TEXTS = { '%R': 'gpu03', '%Z': '/home/alice', '%k': '(null)', '%j': 'sweep' }
  const line = (changes: Record<string, string> = {}) => {
    const values: Record<string, string> = { ...FIELDS, ...MORE, ...REST, ...TEXTS, ...changes }
    return `${nonce}${SQUEUE_FORMAT.split(SEPARATOR)
      .map((field) => values[field])
      .join(SEPARATOR)}\n`
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
        tres: {},
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
      '%A': '3',
      '%K': '2-9%2',
      '%T': 'PENDING',
      '%N': '',
      '%r': 'JobArrayTaskLimit',
      '%R': '(JobArrayTaskLimit)',
    }
    expect(parseJobs(line(pending), { nonce })[0]).toMatchObject({
      arrayJobId: 3,
      arrayTaskId: null,
      arrayTasks: '2-9%2',
      nodes: '',
    })
    expect(parseJobs(line({ '%K': 'N/A', '%i': '12+1' }), { nonce })[0]).toMatchObject({
      arrayJobId: null,
      hetJobId: 12,
      hetJobOffset: 1,
    })
  })

  test('keeps a separator in the name of a job out of other fields', () => {
    const name = `evil${SEPARATOR}root${SEPARATOR}RUNNING`
    expect(parseJobs(line({ '%j': name }), { nonce })[0]).toMatchObject({ name, user: 'alice', states: ['RUNNING'] })
  })

  test('keeps newlines and forged records in the texts of a job', () => {
    const forged = line({ '%A': '99', '%u': 'root' }).slice(nonce.length)
    const texts = { '%k': 'two\nlines', '%j': `a\n${forged}` }
    expect(parseJobs(line(texts) + line({ '%A': '16' }), { nonce })).toMatchObject([
      { id: 15, comment: 'two\nlines', name: `a\n${forged}` },
      { id: 16, name: 'sweep' },
    ])
  })

  test('reads the base state of a job with a flag', () => {
    const states = (word: string) => parseJobs(line({ '%T': word }), { nonce })[0]!.states
    expect(states('CONFIGURING')).toEqual(['RUNNING', 'CONFIGURING'])
    expect(states('REQUEUE_HOLD')).toEqual(['PENDING', 'REQUEUE_HOLD'])
    expect(states('COMPLETING')).toEqual(['COMPLETING'])
  })

  test('keeps the jobs of the last output only, and reads changed ones again', () => {
    const parse = createJobParser()
    const other = 'b'.repeat(32)
    const [first, second] = parse(line({ '%A': '1' }) + line({ '%A': '2' }), nonce)
    const again = parse((line({ '%A': '2', '%Q': '7' }) + line({ '%A': '1' })).replaceAll(nonce, other), other)
    expect(again).toMatchObject([{ id: 2, priority: 7 }, { id: 1 }])
    expect(again[0]).not.toBe(second)
    expect(again[1]).toBe(first)
    expect(parse('', nonce)).toEqual([])
    expect(parse(line({ '%A': '1' }), nonce)[0]).not.toBe(first)
  })

  test('reads an empty queue', () => {
    expect(parseJobs('', { nonce })).toEqual([])
  })

  test('refuses a record that was cut off', () => {
    expect(() => parseJobs(line().slice(0, 60), { nonce })).toThrow('fields')
  })
})
