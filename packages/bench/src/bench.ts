import type { Comparison, Sample } from './compare.ts'

/** Each file in benches/ exports one of these as `bench`. It throws when a contender did not complete its work. */
export type Bench = (options: {
  rounds: number
  /** Value of `--name NUMBER`, for example a size. */
  option: (name: string, fallback: number) => number
  /** Random numbers in [0, 1) from the printed seed. */
  random: () => number
  print: (text: string) => void
}) => Promise<{ comparison: Comparison; samples: Sample[] }[]>
