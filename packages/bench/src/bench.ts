import type { Comparison, Sample } from './compare.ts'

/** One file in benches/ exports one of these as `bench`. It throws when a contender did not do the whole work. */
export type Bench = (options: {
  rounds: number
  /** What was given as `--name NUMBER`, for benchmarks that have sizes of their own. */
  option: (name: string, fallback: number) => number
  say: (text: string) => void
}) => Promise<{ comparison: Comparison; samples: Sample[] }[]>
