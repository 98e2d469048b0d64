/** What a list of promises gave: how many kept, and the reasons of the others. Runs them side by side: a race. */
export async function race<T>(...runs: Promise<T>[]): Promise<{ won: T[]; lost: Error[] }> {
  const settled = await Promise.allSettled(runs)
  return {
    won: settled.flatMap((s) => (s.status === 'fulfilled' ? [s.value] : [])),
    lost: settled.flatMap((s) => (s.status === 'rejected' ? [s.reason as Error] : [])),
  }
}
