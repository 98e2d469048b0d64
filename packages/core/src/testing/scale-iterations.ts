/** Share of iterations that fault tests run; undefined: that of `npm test`. */
const SHARE = process.env.MUSTER_LONG_TESTS

/**
 * @param full the full number of iterations, which `npm run test:long` runs
 * @param share the share of them that `npm test` runs
 * @returns the number to run now, at least one
 */
export const scaleIterations = (full: number, share = 0.002): number => Math.ceil(full * Number(SHARE ?? share))

/** Whether all iterations run, which takes long. */
export const isLong = process.env.MUSTER_LONG_TESTS !== undefined

/** Timeout of a fault test in milliseconds: detects a hang, says nothing about its speed. */
export const FAULT_TIMEOUT = isLong ? 14_400_000 : 600_000
