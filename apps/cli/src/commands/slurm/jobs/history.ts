import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { commaList, integer, omitUndefined, pointInTime } from '../../../options.ts'
import { ago, bytes, clock, isTable, printObject, printRows } from '../../../output.ts'
import { givenCluster, withCluster } from '../../clusters/find-cluster.ts'
import { type JobLookup, lookUpJobs } from './look-up.ts'

type Job = JobLookup['jobs'][number]
type Step = Job['steps'][number]
type Options = Output & {
  cluster?: string
  state?: string[]
  user?: string[]
  account?: string[]
  partition?: string[]
  node?: string
  since?: string
  until?: string
  number?: number
}

const PAGE = 500
const DEFAULT_NUMBER = 100

export const slurmJobHistory = () =>
  withCluster(
    new Command('history')
      .description('list the finished jobs of a cluster, newest first, or show one with its steps; reads its accounting')
      .argument(
        '[id]',
        'show one job instead of a list; filters do not apply: 15, 3_1 or 12+1; an array ID lists at most 200 tasks',
      )
      .option('--state <states>', 'comma-separated final states, such as FAILED,TIMEOUT,CANCELLED', commaList)
      .option('--user <users>', 'jobs of any of these users, separated by commas', commaList)
      .option('--account <accounts>', 'jobs of any of these accounts, separated by commas', commaList)
      .option('--partition <names>', 'jobs in any of these partitions, separated by commas', commaList)
      .option('--node <hostlist>', 'jobs on any of these nodes')
      .option('--since <time>', 'jobs that ended after this time or within this age; default: 30d', pointInTime)
      .option('--until <time>', 'jobs that ended before this time or longer ago', pointInTime)
      .option('-n, --number <n>', `maximum number of rows; default: ${DEFAULT_NUMBER}`, integer),
  )
    .withOutput()
    .action(async (jobId: string | undefined, { cluster, number = DEFAULT_NUMBER, ...options }: Options) => {
      const { user, account, partition, state, node, since, until } = options
      const filter = omitUndefined({ user, account, partition, state, node, since, until })
      const clusterId = await givenCluster(cluster === undefined ? {} : { cluster })
      if (jobId !== undefined) return printJobs(jobId, (await lookUpJobs({ clusterId, jobId })).jobs, options)
      const jobs: Job[] = []
      let after: string | null = null
      let searchedSince: string | null = null
      do {
        const limit = Math.min(PAGE, number - jobs.length)
        const page = await lookUpJobs({ clusterId, ...filter, limit, after })
        jobs.push(...page.jobs)
        ;({ endCursor: after, searchedSince } = page)
        // A slow search returns a partial page; the next lookup continues it.
        if (after !== null && searchedSince !== null) process.stderr.write(`Searched back to ${searchedSince}.\n`)
      } while (after !== null && jobs.length < number)
      printList(jobs, options, searchedSince)
      if (after !== null) process.stderr.write('More jobs match. Use -n for more rows, or --until for older ones.\n')
    })

const stateOf = ({ state, canceledByUid }: Job) => (canceledByUid === null ? state : `${state} by ${canceledByUid}`)
const exitOf = ({ exitCode, exitSignal }: Job | Step) => (exitCode === null ? null : `${exitCode}:${exitSignal ?? 0}`)
const percent = (part: number | null) => (part === null ? null : `${Math.round(part * 100)} %`)
const seconds = (value: number | null) => (value === null ? null : clock(value * 1000))

function printList(jobs: Job[], output: Output, searchedSince: string | null): void {
  printRows(
    jobs,
    [
      { title: 'JOBID', value: (j) => j.jobId },
      { title: 'STATE', value: stateOf },
      { title: 'EXIT', value: exitOf },
      { title: 'USER', value: (j) => j.user },
      { title: 'ACCOUNT', value: (j) => j.account },
      { title: 'PARTITION', value: (j) => j.partition },
      { title: 'NAME', value: (j) => j.name },
      { title: 'NODES', value: (j) => j.nodeList },
      { title: 'CPUS', value: (j) => j.cpus },
      { title: 'ELAPSED', value: (j) => seconds(j.elapsedSeconds) },
      { title: 'ENDED', value: (j) => ago(j.endAt) },
      { title: 'STARTED', value: (j) => j.startAt, wide: true },
      { title: 'QOS', value: (j) => j.qos, wide: true },
    ],
    output,
    searchedSince ? `No jobs that match have ended since ${searchedSince}.` : 'No jobs that match have ended.',
  )
}

function printJobs(jobId: string, jobs: Job[], output: Output): void {
  const [job, ...more] = jobs
  if (!job) throw new CliError(`The accounting has no job ${jobId}.`, EXIT.notFound)
  // Array tasks, components, and the starts of a requeued job.
  if (more.length > 0) return void printList(jobs, output, null)
  printObject(job, output, [
    ['job', job.jobId],
    ['name', job.name],
    ['state', stateOf(job)],
    ['exit code', job.exitCode === null ? null : `${job.exitCode}, signal ${job.exitSignal}`],
    ['reason', job.reason],
    ['user', job.user],
    ['account', job.account],
    ['partition', job.partition],
    ['qos', job.qos],
    ['submitted', job.submittedAt],
    ['start', job.startAt],
    ['end', job.endAt],
    ['elapsed', seconds(job.elapsedSeconds)],
    ['time limit', job.isTimeUnlimited ? 'unlimited' : job.timeLimitMinutes && `${job.timeLimitMinutes} min`],
    ['nodes', job.nodeList || job.nodeCount],
    ['cpus', job.cpus],
    ['tres', job.tres.map(({ name, amount }) => `${name}=${amount}${name === 'mem' ? 'M' : ''}`).join(',')],
    ['cpu time', job.cpuSeconds === null ? 'not measured' : `${seconds(job.cpuSeconds)} (${percent(job.cpuEfficiency) ?? '-'})`],
    [
      'memory',
      job.memoryBytes === null
        ? 'not measured'
        : [bytes(job.memoryBytes), bytes(job.memoryLimitBytes)].filter(Boolean).join(' of '),
    ],
    ['reservation', job.reservation],
    ['directory', job.workingDirectory],
    ['comment', job.comment],
  ])
  if (!isTable(output) || job.steps.length === 0) return
  process.stdout.write('\n')
  printRows(
    job.steps,
    [
      { title: 'STEP', value: (s) => s.stepId },
      { title: 'NAME', value: (s) => s.name },
      { title: 'STATE', value: (s) => s.state },
      { title: 'EXIT', value: exitOf },
      { title: 'TASKS', value: (s) => s.tasks },
      { title: 'NODES', value: (s) => s.nodeList },
      { title: 'ELAPSED', value: (s) => seconds(s.elapsedSeconds) },
      { title: 'CPUTIME', value: (s) => seconds(s.cpuSeconds) },
      { title: 'MEMORY', value: (s) => bytes(s.memoryBytes) },
      { title: 'MAXTASK', value: (s) => bytes(s.maxTaskMemoryBytes), wide: true },
      { title: 'ON', value: (s) => s.maxTaskMemoryNode, wide: true },
    ],
    output,
  )
}
