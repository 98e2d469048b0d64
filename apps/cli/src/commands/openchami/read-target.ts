import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'

const TARGET = graphql(`query OpenchamiTarget {
  openchamiTarget {
    smdUrl bssUrl hasToken caCertificate mode intervalSeconds state isCheckPending checkedAt error failingSince driftSince
    differenceCount pushedAt pushedCount differences { object state fields { field theirs ours } }
  }
}`)
export type Target = NonNullable<ResultOf<typeof TARGET>['openchamiTarget']>

/** @throws CliError none is set */
export async function readTarget(): Promise<Target> {
  const { openchamiTarget } = await request(TARGET, {})
  if (!openchamiTarget)
    throw new CliError('No OpenCHAMI target is set. Set one with `muster openchami target set`.', EXIT.notFound)
  return openchamiTarget
}
