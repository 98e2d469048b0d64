import type { Accelerator } from '@muster/discovery'

/** Properties of a device from earlier discoveries. */
export type KnownAccelerator = Pick<Accelerator, 'uuid' | 'pciAddress' | 'slot'> & { identity: string }

const place = (a: Pick<Accelerator, 'pciAddress' | 'slot'>) => (a.pciAddress ? `${a.pciAddress}/${a.slot ?? ''}` : null)
const bus = (a: Pick<Accelerator, 'pciAddress'>) => a.pciAddress

/**
 * Matches found devices with known ones and names new ones. The UUID decides. If the vendor's tool never reported one, PCI
 * address and chip decide, so that a hung tool does not change a card's identity. Without either, the index in the list decides.
 * @returns one unique identity per found device
 */
export function identify(found: readonly Accelerator[], known: readonly KnownAccelerator[]): string[] {
  const free = new Set(known)
  const result = new Array<string | undefined>(found.length)
  const match = (isSame: (a: Accelerator, k: KnownAccelerator) => boolean) => {
    found.forEach((a, i) => {
      if (result[i] !== undefined) return
      for (const k of free)
        if (isSame(a, k)) {
          result[i] = k.identity
          free.delete(k)
          return
        }
    })
  }
  match((a, k) => a.uuid !== null && a.uuid === k.uuid)
  match((a, k) => (a.uuid === null || k.uuid === null) && place(a) !== null && place(a) === place(k))
  match((a, k) => (a.uuid === null || k.uuid === null) && bus(a) !== null && bus(a) === bus(k))
  // A known device that this discovery did not find may still own the name.
  const taken = new Set([...known.map((k) => k.identity), ...result.filter((r) => r !== undefined)])
  return found.map((a, i) => {
    const before = result[i]
    if (before !== undefined) return before
    const base = a.uuid ? `uuid:${a.uuid}` : place(a) ? `pci:${place(a)}` : `${a.deviceType}:${a.slot ?? a.index ?? i}`
    let identity = base
    const own = known.find((k) => k.identity === base && free.has(k))
    if (own && !a.uuid && !a.pciAddress) free.delete(own)
    else for (let n = 2; taken.has(identity); n++) identity = `${base}#${n}`
    taken.add(identity)
    return identity
  })
}
