import type { BootIdentity } from './find-boot-nodes.ts'

/** Addresses of the boot service for one tenant, without a slash at the end, such as `http://10.0.0.1:8080/boot/v1`. */
export type BootUrls = { scripts: string; cloudInit: string }

/** Where the machine asks for its boot script again. */
export function bootScriptUrl(
  { scripts }: BootUrls,
  { mac, name, nid }: BootIdentity,
  more: Record<string, string | number> = {},
): string {
  const identity = mac ? { mac } : name ? { name } : { nid: String(nid) }
  const query = Object.entries({ ...identity, ...more }).map(
    ([key, value]) => `${key}=${encodeURIComponent(value).replaceAll('%3A', ':')}`,
  )
  return `${scripts}/bootscript?${query.join('&')}`
}

/** The seed of cloud-init; it appends `meta-data` and the other names. */
export const cloudInitUrl = ({ cloudInit }: BootUrls, nodeName: string): string =>
  `${cloudInit}/nocloud/${encodeURIComponent(nodeName)}/`

export const phoneHomeUrl = ({ cloudInit }: BootUrls, token: string): string => `${cloudInit}/phone-home/${token}`
