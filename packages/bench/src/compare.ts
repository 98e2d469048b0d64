/** A measurement of Muster and of a peer or a limit, in the same run. */
export type Comparison = {
  /** Key in the JSON line, unique in its benchmark. */
  what: string
  unit: string
  /** throughput: the ratio must be at least the goal; cost: at most. */
  kind: 'throughput' | 'cost'
  /** Goal of the ratio ours / peer. */
  goal: number
}
export type Sample = { ours: number; peer: number }
export type Contender = () => Promise<number>

/** Alternates between both contenders, and the first one per round, so that other load affects both equally. */
export async function interleave(
  ours: Contender,
  peer: Contender,
  rounds: number,
  print: (text: string) => void,
): Promise<Sample[]> {
  const samples: Sample[] = []
  for (let round = 0; round < rounds; round++) {
    const sample: Partial<Sample> = {}
    const order = round % 2 === 0 ? (['ours', 'peer'] as const) : (['peer', 'ours'] as const)
    for (const who of order) sample[who] = await (who === 'ours' ? ours : peer)()
    samples.push(sample as Sample)
    print(`round ${round + 1} of ${rounds}: ours ${round3(sample.ours!)}, peer ${round3(sample.peer!)}`)
  }
  return samples
}

/** A part of a sample: how much was done, and with how many CPU seconds. */
export type Turn = () => Promise<{ count: number; seconds: number }>

/**
 * Alternates between both, `turns` turns of each per sample: other load that spans several turns affects both equally.
 * @returns count per CPU second
 */
export async function interleaveTurns(
  ours: Turn,
  peer: Turn,
  { turns, rounds, print }: { turns: number; rounds: number; print: (text: string) => void },
): Promise<Sample[]> {
  const samples: Sample[] = []
  for (let round = 0; round < rounds; round++) {
    const sums = { ours: { count: 0, seconds: 0 }, peer: { count: 0, seconds: 0 } }
    const add = (who: 'ours' | 'peer', turn: Turn) => async () => {
      const { count, seconds } = await turn()
      sums[who].count += count
      sums[who].seconds += seconds
      return count / seconds
    }
    await interleave(add('ours', ours), add('peer', peer), turns, () => {})
    const rate = ({ count, seconds }: typeof sums.ours) => count / seconds
    const sample = { ours: rate(sums.ours), peer: rate(sums.peer) }
    samples.push(sample)
    print(`round ${round + 1} of ${rounds}: ours ${round3(sample.ours)}, peer ${round3(sample.peer)}`)
  }
  return samples
}

export const median = (values: number[]) => percentile(values, 0.5)

/** Nearest-rank percentile. @param p 0..1 */
export function percentile(values: number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)] ?? Number.NaN
}

/** Prints a table of medians and worst ratios, then a JSON line. @returns whether every goal is met */
export function report(bench: string, results: { comparison: Comparison; samples: Sample[] }[]): boolean {
  const ratios: Record<string, { ours: number; peer: number; ratio: number; worst: number; goal: number; ok: boolean }> = {}
  const lines = [['what', 'ours', 'peer', 'unit', 'ratio', 'worst', 'goal', '']]
  for (const { comparison: c, samples } of results) {
    const ours = median(samples.map((s) => s.ours))
    const peer = median(samples.map((s) => s.peer))
    const perRound = samples.map((s) => s.ours / s.peer)
    const worst = c.kind === 'throughput' ? Math.min(...perRound) : Math.max(...perRound)
    const ratio = ours / peer
    const ok = c.kind === 'throughput' ? ratio >= c.goal : ratio <= c.goal
    ratios[c.what] = { ours: round3(ours), peer: round3(peer), ratio: round3(ratio), worst: round3(worst), goal: c.goal, ok }
    lines.push([
      c.what,
      `${round3(ours)}`,
      `${round3(peer)}`,
      c.unit,
      `${round3(ratio)}x`,
      `${round3(worst)}x`,
      `${c.kind === 'cost' ? '<=' : '>='} ${c.goal}x`,
      ok ? 'ok' : 'MISSED',
    ])
  }
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)))
  for (const line of lines)
    process.stdout.write(
      `${line
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd()}\n`,
    )
  process.stdout.write(`${JSON.stringify({ bench, ratios })}\n`)
  return Object.values(ratios).every((r) => r.ok)
}

function round3(value: number): number {
  return Number(value.toPrecision(3))
}
