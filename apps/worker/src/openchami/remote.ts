import { type Fields, keys, type Objects } from '@muster/core/openchami'
import { type LocalTarget, RequestError, sendRequest } from '@muster/core/outbound'
import { DeliveryError } from '../delivery/delivery-error.ts'

type Component = { ID: string; NID?: number; Role?: string; Type?: string }
type Interface = { ID: string; MACAddress: string; ComponentID: string; IPAddresses: { IPAddress: string }[] | null }
type Group = { label: string; description: string; exclusiveGroup?: string; members: { ids: string[] | null } }
type Boot = { hosts?: string[] | null; kernel?: string; initrd?: string; params?: string }

/** How to reach the services. `token`: their JWT. */
export type Connection = {
  token: string | undefined
  ca: string | undefined
  localTargets: readonly LocalTarget[]
  signal: AbortSignal
}

const TIMEOUT_MS = 60_000
/** SMD answers with all objects at once. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024

/** Sends a request to a service of OpenCHAMI. @throws DeliveryError with the reason of the answer; TargetError */
export async function call<T>(to: Connection, base: string, method: string, path: string, body?: unknown): Promise<T> {
  const { token, ca, localTargets, signal } = to
  const url = new URL(`${base}${path}`)
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  }
  const limits = { localTargets, signal, timeoutMs: TIMEOUT_MS, maxBytes: MAX_RESPONSE_BYTES }
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await sendRequest({ url, method, headers, ca, ...text }, limits).catch((error: unknown) => {
    if (error instanceof RequestError) throw new DeliveryError(`${url.origin} ${error.message}.`)
    throw signal.aborted ? new DeliveryError((error as Error).message) : error
  })
  const request = `${method} ${url.origin}${url.pathname}`
  if (answer.status < 200 || answer.status > 299)
    throw new DeliveryError(`${request} answered ${answer.status}: ${reasonOf(answer.text)}`)
  if (answer.isCut) throw new DeliveryError(`${request} answered with more than ${MAX_RESPONSE_BYTES} bytes.`)
  try {
    return (answer.text ? JSON.parse(answer.text) : null) as T
  } catch {
    throw new DeliveryError(`${request} did not answer with JSON. Check that it is the address of the service.`)
  }
}

/** The detail of a problem of RFC 9457, or the beginning of the text. */
function reasonOf(text: string): string {
  try {
    const { detail, title } = JSON.parse(text) as { detail?: string; title?: string }
    return String(detail ?? title ?? text).slice(0, 500)
  } catch {
    return text.slice(0, 500)
  }
}

/** What SMD has. @param smd its address, with the path before `/hsm/v2` */
export async function readSmd(to: Connection, smd: string): Promise<Objects> {
  const { Components } = await call<{ Components: Component[] | null }>(to, smd, 'GET', '/hsm/v2/State/Components?type=Node')
  const interfaces = await call<Interface[] | null>(to, smd, 'GET', '/hsm/v2/Inventory/EthernetInterfaces?Type=Node')
  const groups = await call<Group[] | null>(to, smd, 'GET', '/hsm/v2/groups')
  return new Map<string, Fields>([
    ...(Components ?? []).map(({ ID, NID, Role }) => [keys.component(ID), { NID: NID ?? null, Role: Role ?? null }] as const),
    ...(interfaces ?? []).map(
      ({ MACAddress, ComponentID, IPAddresses }) =>
        [
          keys.interface(MACAddress),
          { ComponentID, IPAddresses: (IPAddresses ?? []).map(({ IPAddress }) => IPAddress) },
        ] as const,
    ),
    ...(groups ?? []).map(
      ({ label, description, exclusiveGroup, members }) =>
        [keys.group(label), { description, exclusiveGroup: exclusiveGroup ?? null, members: members.ids ?? [] }] as const,
    ),
  ])
}

/** What BSS has for nodes; defaults such as `Global` are not those of a node. @param bss its address, with the path before `/boot/v1` */
export async function readBss(to: Connection, bss: string): Promise<Objects> {
  const all = await call<Boot[] | null>(to, bss, 'GET', '/boot/v1/bootparameters')
  return new Map(
    (all ?? []).flatMap(({ hosts, kernel, initrd, params }) =>
      (hosts ?? [])
        .filter((host) => /^x\d+c\d+s\d+b\d+n\d+$/.test(host))
        .map((host) => [keys.boot(host), { kernel: kernel ?? null, initrd: initrd ?? null, params: params || null }] as const),
    ),
  )
}
