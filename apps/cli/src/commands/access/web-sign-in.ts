import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'

/** RFC 8628: by how much the interval grows when the server says SLOW_DOWN. */
const SLOW_DOWN_SECONDS = 5

type Wanted = {
  tokenName: string
  role: string | undefined
  isInstallationAdmin: boolean
  tenant: string | undefined
  expiresInSeconds: number
}

/** Lets a person approve the sign-in in a browser, on any machine. @returns the API token */
export async function signInThroughBrowser(url: string, wanted: Wanted): Promise<string> {
  const { startDeviceSignIn } = await request(
    graphql(`mutation LoginStartDevice($input: StartDeviceSignInInput!) {
      startDeviceSignIn(input: $input) { __typename ... on StartDeviceSignInPayload { deviceCode userCode verificationUri verificationUriComplete intervalSeconds } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { input: { ...wanted, clientName: hostname() } },
    { url },
  )
  const { deviceCode, userCode, verificationUri, verificationUriComplete, intervalSeconds } = orThrow(startDeviceSignIn)
  process.stderr.write(
    `Open ${verificationUri} in a browser, sign in and enter the code ${userCode}\nor open ${verificationUriComplete}\nand compare the code. Waiting for your approval …\n`,
  )
  let seconds = intervalSeconds
  for (;;) {
    await sleep(seconds * 1000)
    const { pollDeviceSignIn } = await request(
      graphql(`mutation LoginPollDevice($deviceCode: String!) {
        pollDeviceSignIn(input: { deviceCode: $deviceCode }) { __typename ... on PollDeviceSignInPayload { status secret } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      { deviceCode },
      { url },
    )
    const { status, secret } = orThrow(pollDeviceSignIn)
    if (secret) return secret
    if (status === 'DENIED') throw new CliError('The sign-in was denied in the browser.', EXIT.notAllowed)
    if (status === 'EXPIRED') throw new CliError('The code has expired. Run `muster login` again.', EXIT.notAllowed)
    if (status === 'SLOW_DOWN') seconds += SLOW_DOWN_SECONDS
  }
}
