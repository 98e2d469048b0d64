import { expect, test } from 'vitest'
import { fixture, VERSIONS } from '../test/fixture.ts'
import { createJobParser } from './parse-jobs.ts'
import { parseNodes } from './parse-nodes.ts'
import { parseScheduler } from './parse-scheduler.ts'
import { parseRestJobs, parseRestPing, restPath, restVersions } from './slurmrestd.ts'

test.each(VERSIONS)('%s: reads nodes as the commands do', (version) => {
  // Recorded some seconds later: load, free memory, and the times that slurmctld computes from durations differ.
  const steady = (file: string) =>
    parseNodes(fixture(version, file)).map(({ cpuLoad, freeMemory, lastBusyAt, bootAt, ...node }) => node)
  expect(steady('rest-nodes.json')).toEqual(steady('nodes.json'))
})

test.each(VERSIONS)('%s: reads jobs as the commands do', (version) => {
  const rest = new Map(parseRestJobs(fixture(version, 'rest-jobs.json')).map((job) => [job.id, job]))
  const jobs = createJobParser()(fixture(version, 'squeue.json'), '')
  const waiting = jobs.filter(({ states }) => states[0] === 'PENDING')
  expect(waiting.length).toBeGreaterThan(5)
  for (const { startAt, endAt, priority, reasonDetail, ...job } of jobs) expect(rest.get(job.id)).toMatchObject(job)
})

test('reads statistics of the scheduler', () => {
  expect(parseScheduler(fixture('25.11', 'rest-diag.json'))).toEqual({
    since: new Date(1795333932_000),
    serverThreads: 1,
    agentQueue: 0,
    dbdAgentQueue: 0,
    jobs: { submitted: 32, started: 14, completed: 4, canceled: 1, failed: 0, pending: 18, running: 7 },
    main: { lastCycle: 978, maxCycle: 10522, meanCycle: 1456, cyclesPerMinute: 4, queueLength: 4 },
    backfill: {
      lastCycle: 642,
      maxCycle: 3144,
      meanCycle: 1242,
      queueLength: 4,
      lastCycleAt: new Date(1795334052_000),
      jobs: 2,
    },
  })
  expect(parseScheduler(fixture('22.05', 'rest-diag.json'))).toMatchObject({ backfill: { maxCycle: 2909 } })
  const early = JSON.parse(fixture('22.05', 'rest-diag.json'))
  Object.assign(early.statistics, {
    req_time: early.statistics.req_time_start + 60,
    schedule_cycle_total: 0,
    bf_cycle_counter: 0,
  })
  expect(parseScheduler(JSON.stringify(early))).toMatchObject({
    main: { meanCycle: null, cyclesPerMinute: null },
    backfill: { meanCycle: null },
  })
  expect(() => parseScheduler(fixture('23.11', 'rest-diag.json'))).toThrow('the JSON has no "bf_cycle_max"')
})

test.each([
  ['22.05', '22.05.8'],
  ['23.11', '23.11.11'],
  ['25.11', '25.11.8-0pre1'],
] as const)('%s: reads a ping', (version, release) => {
  const output = fixture(version, 'rest-ping.json')
  expect(parseRestPing(output)).toEqual({ release, isUp: true })
  const down = output.replace('"UP"', '"DOWN"').replace('"responding":true', '"responding":false')
  expect(parseRestPing(down)).toEqual({ release, isUp: false })
  expect(() => parseRestPing(output.slice(0, -20))).toThrow('not complete JSON')
  expect(() => parseRestPing('{"pings": [{"pinged": "UP"}]}')).toThrow('no release')
})

test('refuses errors and cut task lists', () => {
  // Slurm 23.11 with a token that slurmctld rejects.
  const errors = [{ error: 'Unable to connect to database', error_number: 7000 }]
  expect(() => parseRestPing(JSON.stringify({ errors }))).toThrow('Unable to connect to database')
  const job = { job_id: 7, array_job_id: 7, array_task_string: '1,3,5,...', job_state: 'PENDING' }
  expect(() => parseRestJobs(JSON.stringify({ jobs: [job] }))).toThrow(
    'the task list of the array 7 is cut; set SLURM_BITSTR_LEN',
  )
  expect(parseRestJobs(JSON.stringify({ jobs: [{ ...job, array_task_string: '1-9' }] }))).toHaveLength(1)
})

test('asks for the API version of the release first', () => {
  expect(restVersions('23.11.4').slice(0, 3)).toEqual(['v0.0.40', 'v0.0.45', 'v0.0.44'])
  expect(restVersions('26.11.0')[0]).toBe('v0.0.45')
  expect(restVersions('22.05.8')).toHaveLength(8)
  expect(restVersions(null)[0]).toBe('v0.0.45')
  expect(restPath('v0.0.44', 'scheduler')).toBe('/slurm/v0.0.44/diag/')
})
