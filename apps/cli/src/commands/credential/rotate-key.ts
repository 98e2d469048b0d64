import { setTimeout as sleep } from 'node:timers/promises'
import { Command } from 'commander'
import { request } from '../../client.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { type Format, outputOption, printObject } from '../../output.ts'

const STATE = graphql(`query CredentialKey {
  credentialKey { version createdAt total left failed { what name reason } olderVersionsInUse }
}`)
type Key = ResultOf<typeof STATE>['credentialKey']

const LOOK_MS = 500

export const credentialRotateKey = () =>
  new Command('rotate-key')
    .description('make a new key and seal all secrets anew with it, while everything runs')
    .option('--status', 'make none; follow the rotation that is going on, or tell how the last one ended')
    .addOption(outputOption())
    .action(async ({ status, output }: { status?: true; output: Format }) => {
      if (!status) {
        const { rotateCredentialKey } = await request(
          graphql(`mutation RotateCredentialKey {
            rotateCredentialKey { __typename ... on CredentialKey { version } ... on Error { code message } }
          }`),
          {},
        )
        const { version } = orThrow(rotateCredentialKey)
        process.stderr.write(`Version ${version} is the key now. Ctrl-C stops only the watching.\n`)
      }
      let told = ''
      let { credentialKey: key } = await request(STATE, {})
      while (key.left > 0) {
        const line = `${key.total - key.left} of ${key.total} sealed anew`
        if (line !== told) process.stderr.write(`${line}\n`)
        told = line
        await sleep(LOOK_MS)
        key = (await request(STATE, {})).credentialKey
      }
      if (output === 'table') process.stdout.write(`${describe(key)}\n`)
      else printObject(key, output)
      if (key.failed.length > 0) process.exitCode = EXIT.failed
    })

function describe({ version, total, failed, olderVersionsInUse: older }: Key): string {
  return [
    `${total - failed.length} of ${total} are sealed with key version ${version}.`,
    ...failed.map(({ what, name, reason }) => `${what} ${name}: ${reason}`),
    older.length > 0
      ? `Still needed: version ${older.join(', ')}.`
      : version > 1
        ? 'No record needs an older version any more.'
        : '',
  ]
    .filter(Boolean)
    .join('\n')
}
