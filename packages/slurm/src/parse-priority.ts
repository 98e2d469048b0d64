import { SlurmOutputError } from './errors.ts'
import { parseCount, parseWord } from './text.ts'

/** Parts of the priority of a job. TRES are several: one per resource that has a weight. */
export const PRIORITY_FACTORS = [
  'AGE',
  'ASSOCIATION',
  'FAIR_SHARE',
  'JOB_SIZE',
  'PARTITION',
  'QOS',
  'SITE',
  'TRES',
  'NICE',
] as const
export type PriorityFactor = (typeof PRIORITY_FACTORS)[number]

/** The priority of a pending job in one of its partitions. */
export interface SlurmJobPriority {
  id: number
  partition: string
  priority: number
  factors: {
    factor: PriorityFactor
    /** Slurm's name of the resource, for example gres/gpu; null except for TRES. */
    resource: string | null
    /** What it adds to the priority: its value times its weight. Negative for a positive nice value. */
    points: number
    /** 0 to 1, before the weight; null where Slurm prints none. */
    value: number | null
  }[]
}

/** The shares of an account, or of a user in an account. */
export interface SlurmShare {
  account: string
  /** Null for the account itself. */
  user: string | null
  /** Assigned shares; PARENT: those of the account. Null for the root. */
  shares: number | 'PARENT' | null
  /** Shares as a part of those at the same level. */
  normalizedShares: number | null
  /** TRES seconds, decayed. */
  usage: number | null
  /** Usage as a part of that of the level above, or of the cluster. */
  effectiveUsage: number | null
  /** 0 to 1: the factor of the priority; null for accounts in the fair tree algorithm. */
  fairShare: number | null
  /** Normalized shares divided by effective usage; null without usage, and outside of the fair tree algorithm. */
  levelFairShare: number | null
}

/** Nothing of it is written by users; names of accounts and partitions come last, because administrators may write anything. */
export const SPRIO_FORMAT = '%i|%Y|%S|%A|%a|%B|%b|%F|%f|%J|%j|%P|%p|%Q|%q|%N|%T|%t|%r'
const SPRIO_FIELDS = SPRIO_FORMAT.split('|').length

/** `sshare --parsable2` always separates with a pipe. */
export const SSHARE_FORMAT = 'RawShares,NormShares,RawUsage,EffectvUsage,FairShare,LevelFS,User,Account'
const SSHARE_FIELDS = SSHARE_FORMAT.split(',').length

/**
 * Reads `sprio --noheader --format=SPRIO_FORMAT`: a line for each partition of each job. Empty when the jobs are not pending: 22.05 prints
 * a sentence then.
 * @throws SlurmOutputError a record has too few fields
 */
export function parsePriorities(output: string): SlurmJobPriority[] {
  return linesOf(output, /^Unable to find jobs/).map((line) => {
    const fields = line.trim().split('|')
    const [job, priority, site, age, ageValue, association, associationValue, fairShare, fairShareValue] = fields
    const [size, sizeValue, partition, partitionValue, qos, qosValue, nice, tres = '', tresValues = ''] = fields.slice(9)
    const id = parseCount(job)
    if (id === null || fields.length < SPRIO_FIELDS) throw new SlurmOutputError(`a record has no fields: ${line.slice(0, 80)}`)
    const values = amountsOf(tresValues)
    const one = (factor: PriorityFactor, points: string | undefined, value?: string) => ({
      ...{ factor, resource: null, points: parseCount(points) ?? 0, value: parseCount(value) },
    })
    return {
      id,
      partition: fields.slice(SPRIO_FIELDS - 1).join('|'),
      priority: parseCount(priority) ?? 0,
      factors: [
        one('AGE', age, ageValue),
        one('ASSOCIATION', association, associationValue),
        one('FAIR_SHARE', fairShare, fairShareValue),
        one('JOB_SIZE', size, sizeValue),
        one('PARTITION', partition, partitionValue),
        one('QOS', qos, qosValue),
        one('SITE', site),
        ...[...amountsOf(tres)].map(([resource, points]) => ({
          ...{ factor: 'TRES' as const, resource, points, value: values.get(resource) ?? null },
        })),
        // Slurm subtracts it.
        { ...one('NICE', nice), points: -(parseCount(nice) ?? 0) || 0 },
      ],
    }
  })
}

/** `cpu=9,mem=2,gres/gpu=750`. */
function amountsOf(text: string): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const part of text.split(',')) {
    const equals = part.lastIndexOf('=')
    const amount = equals < 1 ? null : parseCount(part.slice(equals + 1))
    if (amount !== null) amounts.set(part.slice(0, equals).trim(), amount)
  }
  return amounts
}

/**
 * Reads `sshare --parsable2 --noheader --format=SSHARE_FORMAT`. Empty without PriorityType=priority/multifactor.
 * @throws SlurmOutputError a record has too few fields
 */
export function parseShares(output: string): SlurmShare[] {
  return linesOf(output).map((line) => {
    const fields = line.split('|')
    const [shares, normalized, usage, effective, fairShare, level, user] = fields
    // Accounts are indented by their depth.
    const account = fields
      .slice(SSHARE_FIELDS - 1)
      .join('|')
      .trim()
    if (fields.length < SSHARE_FIELDS || !account) throw new SlurmOutputError(`a record has no fields: ${line.slice(0, 80)}`)
    return {
      account,
      user: parseWord(user),
      shares: shares?.trim() === 'parent' ? 'PARENT' : parseCount(shares),
      normalizedShares: parseCount(normalized),
      usage: parseCount(usage),
      effectiveUsage: parseCount(effective),
      fairShare: parseCount(fairShare),
      levelFairShare: parseCount(level),
    }
  })
}

const linesOf = (output: string, ignored?: RegExp): string[] =>
  output.split('\n').filter((line) => line.trim() !== '' && !ignored?.test(line.trim()))
