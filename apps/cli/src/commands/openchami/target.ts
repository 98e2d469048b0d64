import { request } from '../../client.ts'
import { Command, commandGroup, type Output } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { emptyToNull, integer, omitUndefined, oneOf } from '../../options.ts'
import { printObject } from '../../output.ts'
import { askSecrets } from '../../prompt.ts'
import { readText } from '../../read-text.ts'
import { readTarget } from './read-target.ts'

const mode = oneOf('OFF', 'REPORT', 'PUSH')
type Options = {
  smd?: string
  bss?: string
  ca?: string
  mode?: ReturnType<typeof mode>
  interval?: number
  token?: boolean
  stdin?: true
}

const set = () =>
  new Command('set')
    .description("set the SMD and BSS of OpenCHAMI that are to have the tenant's nodes, groups and boot parameters")
    .option('--smd <url>', "address of SMD, without /hsm/v2; '' for none")
    .option('--bss <url>', "address of BSS, without /boot/v1; '' for none")
    .option('--token', 'ask for the JWT of these services')
    .option('--no-token', 'delete the stored JWT')
    .option('--stdin', 'read the JWT from standard input instead of asking')
    .option('--ca <file>', "PEM file with the only accepted certificate authorities; '' for those that the worker trusts")
    .option('--mode <mode>', 'what periodic checks do: nothing (off), report differences, or push', mode)
    .option('--interval <seconds>', 'time between two checks', integer)
    .action(async ({ smd, bss, ca, mode, interval, token, stdin }: Options) => {
      const secrets = token || stdin ? await askSecrets([{ field: 'token', question: 'JWT' }], stdin) : {}
      const input = {
        ...omitUndefined({
          smdUrl: emptyToNull(smd),
          bssUrl: emptyToNull(bss),
          caCertificate: ca === undefined ? undefined : ca === '' ? null : readText(ca),
          mode,
          intervalSeconds: interval,
          token: token === false ? null : undefined,
        }),
        ...secrets,
      }
      const { setOpenchamiTarget } = await request(
        graphql(`mutation OpenchamiTargetSet($input: SetOpenchamiTargetInput!) {
          setOpenchamiTarget(input: $input) { __typename ... on SetOpenchamiTargetPayload { openchamiTarget { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input },
      )
      orThrow(setOpenchamiTarget)
      process.stderr.write('Set the OpenCHAMI target. See the differences with `muster openchami diff`.\n')
    })

const get = () =>
  new Command('get')
    .description('show the target and the result of its last check')
    .withOutput()
    .action(async (output: Output) => {
      const target = await readTarget()
      printObject(target, output, [
        ['SMD', target.smdUrl],
        ['BSS', target.bssUrl],
        ['token', target.hasToken ? 'stored' : 'none'],
        ['CA', target.caCertificate ? 'own' : 'those that the worker trusts'],
        ['mode', target.mode],
        ['interval', target.mode === 'OFF' ? 'on request only' : `${target.intervalSeconds} s`],
        ['state', target.state],
        ['checked', target.checkedAt],
        ['error', target.error],
        ['failing since', target.failingSince],
        ['drift since', target.driftSince],
        ['differences', String(target.differenceCount)],
        ['pushed', target.pushedAt && `${target.pushedCount} objects at ${target.pushedAt}`],
      ])
    })

const remove = () =>
  new Command('remove')
    .description('remove the target; what was pushed stays there')
    .option('-y, --yes', YES_HELP)
    .action(async ({ yes }: { yes?: boolean }) => {
      await confirmAction('Remove the OpenCHAMI target.', yes)
      const { removeOpenchamiTarget } = await request(
        graphql(`mutation OpenchamiTargetRemove {
          removeOpenchamiTarget { __typename ... on RemoveOpenchamiTargetPayload { deletedId } ... on Error { code message } }
        }`),
        {},
      )
      orThrow(removeOpenchamiTarget)
      process.stderr.write('Removed the OpenCHAMI target.\n')
    })

export const openchamiTarget = () =>
  commandGroup('target', [get(), set(), remove()]).description(
    'show and change the SMD and BSS that are compared with the tenant',
  )
