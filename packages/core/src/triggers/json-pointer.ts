/** A JSON Pointer of RFC 6901 that names a value inside of a document, such as `/alerts/0/labels/instance`. */
export const JSON_POINTER = /^(\/([^~/]|~[01])*)+$/

/** The value at a valid pointer; undefined when there is none. Hand-written: libraries of this kind also follow inherited properties. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}
