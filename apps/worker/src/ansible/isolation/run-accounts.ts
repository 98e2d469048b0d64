import { readFile } from 'node:fs/promises'
import type { RunUser } from '../run-directory/run-paths.ts'

/** Users for concurrent runs. Each user has at most one run at a time. */
export type UserPool = { take(): RunUser; release(user: RunUser): void }

/** The user that was released first is taken first. */
export function createUserPool(users: RunUser[]): UserPool {
  const free = [...users]
  return {
    take() {
      const user = free.shift()
      if (!user) throw new Error(`all ${users.length} users of ISOLATION_UID_RANGE have a run; make the range larger`)
      return user
    },
    release: (user) => void free.push(user),
  }
}

/**
 * Reads the accounts of a range of users. SSH needs an account, and directories of a run are readable for its group.
 * @throws Error with the next step when an account is missing, when two share a group, or when there are fewer than `concurrency`
 */
export async function readRunAccounts(
  range: [number, number] | undefined,
  concurrency: number,
  accounts?: string,
): Promise<RunUser[]> {
  if (process.getuid?.() !== 0) throw new Error('the worker does not run as root')
  if (!range) throw new Error('ISOLATION_UID_RANGE is not set: create accounts for concurrent runs and set it to their range')
  const [first, last] = range
  const lines = (accounts ?? (await readFile('/etc/passwd', 'utf8'))).split('\n').map((line) => line.split(':'))
  const groups = new Map(lines.map(([, , uid, gid]) => [Number(uid), Number(gid)]))
  const users = Array.from({ length: last - first + 1 }, (_, i) => first + i).map((uid) => {
    const gid = groups.get(uid)
    if (!gid)
      throw new Error(
        `the user ${uid} of ISOLATION_UID_RANGE has no account with a group: useradd --uid ${uid} --user-group muster-run-${uid}`,
      )
    return { uid, gid }
  })
  const shared = users.find(({ uid, gid }) => lines.some(([, , other, group]) => Number(group) === gid && Number(other) !== uid))
  if (shared)
    throw new Error(
      `the user ${shared.uid} of ISOLATION_UID_RANGE shares its group with another account: give it a group of its own`,
    )
  if (users.length < concurrency)
    throw new Error(
      `ISOLATION_UID_RANGE has ${users.length} users and JOB_RUNNER_CONCURRENCY is ${concurrency}: one user per concurrent run is needed`,
    )
  return users
}
