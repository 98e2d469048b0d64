import { CliError, EXIT } from '../../errors.ts'
import { type Fields, keys, type Objects } from './objects.ts'

type Component = { ID: string; NID?: number; Role?: string; Type?: string }
type Interface = { ID: string; MACAddress: string; ComponentID: string; IPAddresses: { IPAddress: string }[] }
type Group = { label: string; description: string; exclusiveGroup?: string; members: { ids: string[] | null } }
type Boot = { hosts?: string[] | null; kernel?: string; initrd?: string; params?: string }

/** Sends a request to a service of OpenCHAMI, with the JWT in OPENCHAMI_TOKEN. @throws CliError with the answer's reason */
export async function call<T>(base: string, method: string, path: string, body?: unknown): Promise<T> {
  const url = `${base.replace(/\/+$/, '')}${path}`
  const token = process.env.OPENCHAMI_TOKEN
  let response: Response
  try {
    response = await fetch(url, {
      method,
      redirect: 'error',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    })
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    throw new CliError(`${url} does not answer: ${reason}. Check the address.`, EXIT.unavailable)
  }
  const text = await response.text()
  if (!response.ok)
    throw new CliError(`${method} ${url} answered ${response.status}: ${reasonOf(text)}`, exitCodeOf(response.status))
  try {
    return (text ? JSON.parse(text) : null) as T
  } catch {
    throw new CliError(
      `${method} ${url} did not answer with JSON. Check that it is the address of the service.`,
      EXIT.unavailable,
    )
  }
}

function reasonOf(text: string): string {
  try {
    const { detail, title } = JSON.parse(text) as { detail?: string; title?: string }
    return detail ?? title ?? text.slice(0, 500)
  } catch {
    return text.slice(0, 500)
  }
}

const exitCodeOf = (status: number) =>
  status === 401 || status === 403
    ? EXIT.notAllowed
    : status === 404
      ? EXIT.notFound
      : status >= 500
        ? EXIT.unavailable
        : EXIT.rejected

/** What SMD has. @param smd its address, with the path before `/hsm/v2` */
export async function readSmd(smd: string): Promise<Objects> {
  const { Components } = await call<{ Components: Component[] | null }>(smd, 'GET', '/hsm/v2/State/Components?type=Node')
  const interfaces = await call<Interface[]>(smd, 'GET', '/hsm/v2/Inventory/EthernetInterfaces?Type=Node')
  const groups = await call<Group[]>(smd, 'GET', '/hsm/v2/groups')
  return new Map<string, Fields>([
    ...(Components ?? []).map(({ ID, NID, Role }) => [keys.component(ID), { NID: NID ?? null, Role: Role ?? null }] as const),
    ...interfaces.map(
      ({ MACAddress, ComponentID, IPAddresses }) =>
        [keys.interface(MACAddress), { ComponentID, IPAddresses: IPAddresses.map(({ IPAddress }) => IPAddress) }] as const,
    ),
    ...groups.map(
      ({ label, description, exclusiveGroup, members }) =>
        [keys.group(label), { description, exclusiveGroup: exclusiveGroup ?? null, members: members.ids ?? [] }] as const,
    ),
  ])
}

/** What BSS has for nodes; defaults such as `Global` are not those of a node. @param bss its address, with the path before `/boot/v1` */
export async function readBss(bss: string): Promise<Objects> {
  const all = await call<Boot[] | null>(bss, 'GET', '/boot/v1/bootparameters')
  return new Map(
    (all ?? []).flatMap(({ hosts, kernel, initrd, params }) =>
      (hosts ?? [])
        .filter((host) => /^x\d+c\d+s\d+b\d+n\d+$/.test(host))
        .map((host) => [keys.boot(host), { kernel: kernel ?? null, initrd: initrd ?? null, params: params || null }] as const),
    ),
  )
}
