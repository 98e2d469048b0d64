/** One line for the person at the terminal. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Do `work` and print one line with the time it took, in the form that the set-up before us uses. */
export async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now()
  let mark = '✗'
  try {
    const result = await work()
    mark = '✓'
    return result
  } catch (error) {
    if ((error as Error).name === 'AbortError') mark = '-' // stopped because of something else
    throw Object.assign(error as Error, { step: (error as { step?: string }).step ?? title })
  } finally {
    const elapsed = `${((performance.now() - started) / 1000).toFixed(1)} s`
    say(`${mark} ${`${title} `.padEnd(62, '.')} ${elapsed.padStart(7)}`)
  }
}
