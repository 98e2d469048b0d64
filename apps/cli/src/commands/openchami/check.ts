import { setTimeout } from 'node:timers/promises'
import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { count, printRows } from '../../output.ts'
import { readTarget, type Target } from './read-target.ts'

const POLL_MS = 500
/** Longer than a worker's check. */
const TIMEOUT_MS = 11 * 60_000

/** Requests a check, waits for its end, and prints the differences that are left. @throws CliError it failed */
async function check(mode: 'REPORT' | 'PUSH', output: Output): Promise<{ before: Target; after: Target }> {
  const before = await readTarget()
  const { checkOpenchamiTarget } = await request(
    graphql(`mutation OpenchamiTargetCheck($mode: OpenchamiCheckMode!) {
      checkOpenchamiTarget(input: { mode: $mode }) { __typename ... on CheckOpenchamiTargetPayload { openchamiTarget { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { mode },
  )
  orThrow(checkOpenchamiTarget)
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await setTimeout(POLL_MS)) {
    const after = await readTarget()
    if (after.isCheckPending) continue
    if (after.error !== null) throw new CliError(after.error, EXIT.unavailable)
    printDifferences(after, output)
    return { before, after }
  }
  throw new CliError('No worker has finished the check yet. See `muster worker list`.', EXIT.unavailable)
}

function printDifferences({ differences, differenceCount }: Target, output: Output): void {
  printRows(
    differences,
    [
      { title: 'OBJECT', value: ({ object }) => object },
      { title: 'STATE', value: ({ state }) => state },
      {
        title: 'FIELDS',
        value: ({ fields }) => fields.map(({ field, theirs, ours }) => `${field}: ${theirs ?? '-'} -> ${ours ?? '-'}`).join('; '),
      },
    ],
    output,
    'No differences.',
  )
  if (differenceCount > differences.length)
    process.stderr.write(`Shows ${differences.length} of ${differenceCount} differences.\n`)
}

export const openchamiDiff = () =>
  new Command('diff')
    .description(
      "compare the tenant's nodes, interfaces, groups and boot parameters with the target; exit code 1 when they differ",
    )
    .withOutput()
    .action(async (output: Output) => {
      const { after } = await check('REPORT', output)
      if (after.differenceCount > 0) process.exitCode = EXIT.failed
    })

export const openchamiPush = () =>
  new Command('push')
    .description('write what is missing or different to the target; prints the differences that are left')
    .option('-y, --yes', YES_HELP)
    .withOutput()
    .action(async ({ yes, ...output }: Output & { yes?: boolean }) => {
      const { smdUrl, bssUrl } = await readTarget()
      const services = [smdUrl, bssUrl].filter(Boolean).join(' and ')
      await confirmAction(`Write nodes, groups and boot parameters to ${services}.`, yes)
      const { before, after } = await check('PUSH', output)
      const written = after.pushedAt === before.pushedAt ? 0 : (after.pushedCount ?? 0)
      process.stderr.write(`Wrote ${count(written, 'object')}.\n`)
    })
