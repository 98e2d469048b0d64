/** Awaits competing operations. @returns the results of those that succeeded and the errors of the others */
export async function race<T>(...runs: Promise<T>[]): Promise<{ won: T[]; lost: Error[] }> {
  const settled = await Promise.allSettled(runs)
  return {
    won: settled.flatMap((s) => (s.status === 'fulfilled' ? [s.value] : [])),
    lost: settled.flatMap((s) => (s.status === 'rejected' ? [s.reason as Error] : [])),
  }
}
