/** What part of their full count fault tests try: all of it with `npm run test:long`, one hundredth in `npm test`. */
const SHARE = Number(process.env.MUSTER_LONG_TESTS ?? 0.01)

/** @param full the full count @returns how many of them to try now, at least one */
export const often = (full: number): number => Math.ceil(full * SHARE)

/** For what may take so long only when it is tried in full. */
export const isLong = process.env.MUSTER_LONG_TESTS !== undefined

/** How long a fault test may take, milliseconds: not what it needs, but when it hangs. */
export const FAULT_TIMEOUT = isLong ? 14_400_000 : 600_000
