/** Objects of OpenCHAMI's SMD and BSS by a key such as `component x1000c0s0b0n0`, with the fields that Muster determines. */
export type Objects = Map<string, Fields>
export type Fields = Record<string, string | number | string[] | null>

export type Difference = {
  object: string
  /** MISSING there, DIFFERENT, or EXTRA: only there, which a push leaves. */
  state: 'MISSING' | 'DIFFERENT' | 'EXTRA'
  /** Changed fields: the value there, and ours. */
  fields: { field: string; theirs: Fields[string]; ours: Fields[string] }[]
}

/** Compares field by field; lists count without their order. A field that is null or missing on our side is not compared. */
export function compare(ours: Objects, theirs: Objects): Difference[] {
  const differences: Difference[] = []
  for (const [object, fields] of ours) {
    const other = theirs.get(object)
    const changed = Object.entries(fields).flatMap(([field, value]) =>
      value === null || (other && equal(value, other[field] ?? null))
        ? []
        : [{ field, theirs: other?.[field] ?? null, ours: value }],
    )
    if (!other || changed.length > 0) differences.push({ object, state: other ? 'DIFFERENT' : 'MISSING', fields: changed })
  }
  for (const object of theirs.keys()) if (!ours.has(object)) differences.push({ object, state: 'EXTRA', fields: [] })
  return differences.sort((a, b) => (a.object < b.object ? -1 : 1))
}

const equal = (a: Fields[string], b: Fields[string]): boolean => textOf(a) === textOf(b)
export const textOf = (value: Fields[string]): string =>
  value === null ? '-' : Array.isArray(value) ? [...value].sort().join(' ') : String(value)

export const keys = {
  component: (xname: string) => `component ${xname}`,
  interface: (mac: string) => `interface ${mac.toLowerCase()}`,
  group: (label: string) => `group ${label}`,
  boot: (xname: string) => `boot parameters ${xname}`,
}
