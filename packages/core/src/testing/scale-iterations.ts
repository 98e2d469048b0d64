/** Share of iterations that fault tests run: all with `npm run test:long`, 0.2 percent with `npm test`. */
const SHARE = Number(process.env.MUSTER_LONG_TESTS ?? 0.002)

/** @param full the full number of iterations @returns the number to run now, at least one */
export const scaleIterations = (full: number): number => Math.ceil(full * SHARE)

/** Whether all iterations run, which takes long. */
export const isLong = process.env.MUSTER_LONG_TESTS !== undefined

/** Timeout of a fault test in milliseconds: detects a hang, says nothing about its speed. */
export const FAULT_TIMEOUT = isLong ? 14_400_000 : 600_000
