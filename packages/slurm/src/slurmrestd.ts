import { API_VERSIONS, apiVersion, releaseNumber } from './api-versions.ts'
import { SlurmOutputError } from './errors.ts'
import { at, objects, readText } from './json.ts'
import { createJobParser, type SlurmJob } from './parse-jobs.ts'
import type { SlurmQuery } from './queries.ts'
import { readJson } from './response.ts'

/** The API versions to ask for, that of the release first. */
export function restVersions(release: string | null): string[] {
  const versions = API_VERSIONS.map(([, version]) => version)
  const own = apiVersion(releaseNumber(release))
  return own ? [own, ...versions.filter((version) => version !== own)] : versions
}

/**
 * What slurmrestd reports completely. It lacks which partitions are hidden or the default (from v0.0.39), comments of reservations, the
 * configuration, and the longest backfill cycle (v0.0.39 and v0.0.40).
 */
export type RestQuery = Extract<SlurmQuery, 'nodes' | 'jobs' | 'scheduler'>
const RESOURCES: Record<RestQuery, string> = { nodes: 'nodes', jobs: 'jobs', scheduler: 'diag' }

export const restPath = (version: string, query: RestQuery | 'ping'): string =>
  `/slurm/${version}/${query === 'ping' ? 'ping' : RESOURCES[query]}/`

export const reportsInRest = (version: string, query: RestQuery): boolean =>
  query !== 'scheduler' || !['v0.0.39', 'v0.0.40'].includes(version)

/** `release` of slurmrestd; `isUp`: a controller answers it. A rejected token looks like a controller that is down. */
export type RestPing = { release: string; isUp: boolean }

/** @throws SlurmOutputError the response is not that of slurmrestd, or reports errors */
export function parseRestPing(output: string): RestPing {
  const response = readJson(output)
  const release = readText(at(response, 'meta', 'slurm').release) ?? readText(at(response, 'meta', 'Slurm').release)
  if (release === null) throw new SlurmOutputError('the JSON has no release of Slurm')
  const pings = objects(response.pings)
  return { release, isUp: pings.some((ping) => ping.responding === true || ping.pinged === 'UP' || ping.ping === 'UP') }
}

/**
 * Reads the jobs of slurmrestd.
 * @throws SlurmOutputError also when it cut the task list of an array, which no command accepts then
 */
export function parseRestJobs(output: string): SlurmJob[] {
  const jobs = createJobParser()(output, '')
  const cut = jobs.find(({ arrayTasks }) => arrayTasks?.includes('...'))
  if (cut)
    throw new SlurmOutputError(
      `the task list of the array ${cut.arrayJobId} is cut; set SLURM_BITSTR_LEN=2000 in the environment of slurmrestd`,
    )
  return jobs
}
