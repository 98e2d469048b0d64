/** `approveHostKey` -> `approve_host_key`. */
export const snakeCased = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const SHOWN = 5

/** The first names and how many more there are. */
export const listedNames = (names: readonly string[]): string =>
  names.slice(0, SHOWN).join(', ') + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '')
