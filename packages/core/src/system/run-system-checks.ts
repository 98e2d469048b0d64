import { authorize, type Ctx } from '../kernel/context.ts'
import { type Finding, type Observation, SYSTEM_CHECKS } from '../kernel/finding.ts'
import { reasonOf } from '../kernel/log.ts'
import { checkDatabase } from './check-database.ts'
import { systemPermissions } from './permissions.ts'

/** The checks of the calling process, such as `checkProcess`. */
export type SystemChecks = () => Promise<Observation[]>

const TIMEOUT_MS = 15_000

/** Runs the checks of the database and of the calling process, and adds what workers reported. Ordered by check, then by source. */
export async function runSystemChecks(
  ctx: Pick<Ctx, 'actor' | 'systemDb'>,
  own: SystemChecks,
  source = 'API',
): Promise<Finding[]> {
  authorize(ctx, systemPermissions.check)
  const [shared, local] = await Promise.all([
    settled('the database', () => checkDatabase(ctx.systemDb)),
    settled(source, async () => (await own()).map((one) => ({ ...one, source }))),
  ])
  const order = (finding: Finding) => SYSTEM_CHECKS.indexOf(finding.check)
  return [...shared, ...local].sort((a, b) => order(a) - order(b) || a.source.localeCompare(b.source))
}

/** A check that fails or hangs is a finding itself. */
async function settled(source: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result after ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS)
  })
  try {
    return await Promise.race([check(), late])
  } catch (error) {
    const message = `The checks of ${source} failed: ${reasonOf(error)}`
    return [
      {
        check: 'DATABASE',
        source,
        severity: 'ERROR',
        message,
        nextStep: 'Check that Postgres runs and is reachable from this machine.',
      },
    ]
  } finally {
    clearTimeout(timer)
  }
}
