import type { ResolvedBootProfile } from '../../boot-profiles/index.ts'
import { sha256 } from './cloud-init.ts'

/** Files and parameters that a machine boots with. Initrds are loaded in their order. */
export type BootImages = { kernel: string; initrds: string[]; params: string[] }

/** What identifies the machine on its kernel command line. */
type Identity = { xname: string | null; nid: number | null; mac: string | null }

const RETRY_SECONDS = [5, 10, 20, 40]
const MAX_RETRY_SECONDS = 60

/** Delay before a machine asks again, in seconds: longer with each attempt, at most a minute. */
export const retryDelay = (retry: number): number => RETRY_SECONDS[retry] ?? MAX_RETRY_SECONDS

/**
 * What a node boots with a profile, null without a kernel. Adds the parameters that the profile does not set: xname, nid, BOOTIF with the
 * MAC, the data source of cloud-init, and the root image for dracut's live module.
 * @param cloudInitUrl ends with a slash; null: no data source
 */
export function bootImagesOf(
  profile: ResolvedBootProfile,
  { xname, nid, mac }: Identity,
  cloudInitUrl: string | null,
): BootImages | null {
  if (!profile.kernel) return null
  const params = profile.kernelParams.map(({ value }) => value)
  const add = (name: string, value: string | number | null | undefined) => {
    if (value !== null && value !== undefined && !params.some((param) => param.startsWith(`${name}=`)))
      params.push(`${name}=${value}`)
  }
  add('root', profile.rootImage && `live:${profile.rootImage.value.url}`)
  add('xname', xname)
  add('nid', nid)
  add('BOOTIF', mac && `01-${mac.replaceAll(':', '-')}`)
  add('ds', cloudInitUrl && `nocloud-net;s=${cloudInitUrl}`)
  return { kernel: profile.kernel.value.url, initrds: (profile.initrds?.value ?? []).map(({ url }) => url), params }
}

/** Hash of what a machine boots: the same for every attempt, whose scripts differ in the delay. */
export const hashOfImages = (images: BootImages): string => sha256(JSON.stringify(images))

/** The name of an initrd in iPXE, and in the parameter with which the EFI stub of a kernel finds it. */
const initrdName = (i: number) => (i === 0 ? 'initrd' : `initrd${i}`)

/**
 * iPXE script that loads the images and starts them. After a failure it waits and asks at `retryUrl` again.
 */
export function renderBootScript({ kernel, initrds, params }: BootImages, { retry, retryUrl }: Retry): string {
  const all = [...initrds.map((_, i) => `initrd=${initrdName(i)}`), ...params.filter((param) => !param.startsWith('initrd='))]
  return lines(
    '#!ipxe',
    `kernel --name kernel ${kernel} ${all.join(' ')} || goto boot_retry`,
    ...initrds.map((url, i) => `initrd --name ${initrdName(i)} ${url} || goto boot_retry`),
    'boot || goto boot_retry',
    ':boot_retry',
    `sleep ${retryDelay(retry)}`,
    `chain ${retryUrl}`,
  )
}
/** `retry`: number of the attempt, from 0. */
type Retry = { retry: number; retryUrl: string }

/** Waits and asks again. */
export const renderRetryScript = ({ retry, retryUrl }: Retry): string =>
  lines('#!ipxe', `sleep ${retryDelay(retry)}`, `chain ${retryUrl}`)

/** Asks again at once with what the firmware knows about the machine. */
export const renderReportScript = (url: string): string => lines('#!ipxe', `chain ${url}&${REPORTED}`)

/** Variables of iPXE; `uristring` encodes them for a URL. A variable that the firmware does not set is empty. */
const REPORTED = [
  `arch=\${buildarch}`,
  `serial=\${serial:uristring}`,
  `uuid=\${uuid}`,
  ...[0, 1, 2, 3].map((i) => `net${i}=\${net${i}/mac}`),
].join('&')

/** Query of the first request of iPXE, which replaces its variable. */
export const bootScriptQuery = `mac=\${netX/mac}`

/** Ends iPXE, so that the firmware boots the next device. */
export const renderExitScript = (): string => lines('#!ipxe', 'exit')

const lines = (...all: string[]) => `${all.join('\n')}\n`
