import type { BootScript, BootScriptRequest, BootUrls } from '@muster/core/boot-service'
import { parseMac } from '@muster/core/nodes'

/** iPXE for BIOS is a 32-bit program also on x86-64, and Linux for i386 is not supported. Others are the names of BSS and iPXE. */
const ARCHES: Record<string, string> = { i386: 'x86_64', 'x86-64': 'x86_64', amd64: 'x86_64', arm64: 'aarch64' }
const MAX_RETRY = 1_000_000

/** The parameters of a request for a boot script; a text says what is wrong with them. */
export function parseBootScriptRequest(
  query: URLSearchParams,
  { urls, address }: { urls: BootUrls; address: string | null },
): BootScriptRequest | string {
  const text = (name: string) => query.get(name) || null
  const [mac, name, nid] = [text('mac'), text('name'), text('nid')]
  if (!mac && !name && !nid) return 'Need a mac=, name=, or nid= parameter'
  const arch = text('arch')
  const identity = identityOf(mac, name, nid)
  if (typeof identity === 'string') return identity
  return {
    identity,
    arch: arch && (ARCHES[arch.toLowerCase()] ?? arch),
    retry: Math.min(Math.max(Math.trunc(Number(text('retry') ?? 0)) || 0, 0), MAX_RETRY),
    serial: text('serial'),
    systemUuid: text('uuid'),
    interfaces: [0, 1, 2, 3].flatMap((i) => {
      const own = parseMac(text(`net${i}`) ?? '')
      return own ? [{ name: `net${i}`, mac: own }] : []
    }),
    address,
    urls,
  }
}

/** MAC, then name, then NID, as BSS decides. */
function identityOf(mac: string | null, name: string | null, nid: string | null): BootScriptRequest['identity'] | string {
  if (mac) {
    const parsed = parseMac(mac)
    return parsed ? { mac: parsed } : `${mac.slice(0, 40)} is not a MAC address.`
  }
  if (name) return { name }
  return /^\d{1,9}$/.test(nid!) ? { nid: Number(nid) } : `Invalid nid '${nid!.slice(0, 40)}'`
}

/** The answer to `json=1`, with the fields of BSS. */
export function bootScriptJson({ images }: BootScript): object | null {
  if (!images) return null
  const [initrd] = images.initrds
  return {
    params: `kernel ${[...(initrd ? ['initrd=initrd'] : []), ...images.params].join(' ')}`,
    kernel: { path: images.kernel },
    initrd: { path: initrd ?? '' },
  }
}
