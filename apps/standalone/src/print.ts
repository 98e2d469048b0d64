/** Prints one line to the terminal. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Runs `work` and prints one line with its duration, in the format of bin/setup/step.mjs. */
export async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now()
  let mark = '✗'
  try {
    const result = await work()
    mark = '✓'
    return result
  } catch (error) {
    if ((error as Error).name === 'AbortError') mark = '-' // aborted because another step failed
    throw Object.assign(error as Error, { step: (error as { step?: string }).step ?? title })
  } finally {
    const elapsed = `${((performance.now() - started) / 1000).toFixed(1)} s`
    print(`${mark} ${`${title} `.padEnd(62, '.')} ${elapsed.padStart(7)}`)
  }
}
