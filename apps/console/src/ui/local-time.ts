const MINUTE = 60_000

/** A time as an input of the type datetime-local shows it. */
export const localTime = (iso: string): string =>
  new Date(Date.parse(iso) - new Date(iso).getTimezoneOffset() * MINUTE).toISOString().slice(0, 16)
