import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { isTable, printObject } from '../../output.ts'

const STATE = graphql(`query CredentialKey {
  credentialKey { version createdAt totalCount pendingCount failedCount failures { objectType name reason } olderVersionsInUse }
}`)
type Key = ResultOf<typeof STATE>['credentialKey']

const POLL_MS = 500

export const credentialRotateKey = () =>
  new Command('rotate-key')
    .description('create a new encryption key and re-encrypt all secrets online')
    .option('--status', 'create no key; follow the current rotation or show the last one')
    .withOutput()
    .action(async ({ status, ...output }: Output & { status?: true }) => {
      if (!status) {
        const { rotateCredentialKey } = await request(
          graphql(`mutation RotateCredentialKey {
            rotateCredentialKey { __typename ... on RotateCredentialKeyPayload { credentialKey { version } } ... on Error { code message } }
          }`),
          {},
        )
        const { version } = orThrow(rotateCredentialKey).credentialKey
        process.stderr.write(`Created key version ${version}. Ctrl-C stops watching, not the rotation.\n`)
      }
      let printed = ''
      let { credentialKey: key } = await request(STATE, {})
      while (key.pendingCount > 0) {
        const line = `${key.totalCount - key.pendingCount} of ${key.totalCount} re-encrypted`
        if (line !== printed) process.stderr.write(`${line}\n`)
        printed = line
        await sleep(POLL_MS)
        key = (await request(STATE, {})).credentialKey
      }
      if (isTable(output)) process.stdout.write(`${describe(key)}\n`)
      else printObject(key, output)
      if (key.failedCount > 0) process.exitCode = EXIT.failed
    })

function describe({ version, totalCount, failedCount, failures, olderVersionsInUse: older }: Key): string {
  return [
    `${totalCount - failedCount} of ${totalCount} secrets use key version ${version}.`,
    ...failures.map(({ objectType, name, reason }) => `${objectType.toLowerCase().replace('_', ' ')} ${name}: ${reason}`),
    older.length > 0 ? `Older versions in use: ${older.join(', ')}.` : version > 1 ? 'No older version is in use.' : '',
  ]
    .filter(Boolean)
    .join('\n')
}
